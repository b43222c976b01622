import { appendFileSync } from 'node:fs';

/** What a run did and found, in a file. */
export type Journal = {
  readonly findings: string[];
  /** How often each kind of event occurred. */
  readonly counts: Map<string, number>;
  note(event: string, details?: string): void;
  /** Records something that must not happen. */
  finding(text: string): void;
};

/** A journal that is written line by line, so that nothing of it is lost. */
export function openJournal(file: string): Journal {
  const begin = performance.now();
  const findings: string[] = [];
  const counts = new Map<string, number>();
  const write = (text: string) => {
    const seconds = ((performance.now() - begin) / 1000).toFixed(1).padStart(6);
    appendFileSync(file, `${seconds} ${text}\n`);
  };
  return {
    findings,
    counts,
    note(event, details = '') {
      counts.set(event, (counts.get(event) ?? 0) + 1);
      write(`${event} ${details}`.trimEnd());
    },
    finding(text) {
      findings.push(text);
      write(`FINDING ${text}`);
    },
  };
}

/** A line of a stack trace. */
const stackLine = /^\s+at .+(?:\.[jt]s|node:\S+):\d+/m;

/** What a person can do next. */
const advice =
  /\b(?:run|check|try|wait|stop|restore|free|start|use|give|repair|choose|name|see|get|add|restart|let it go on)\b/i;

/** Records a message that a person can't act on: a stack, or a sentence without advice. */
export function judgeMessage(journal: Journal, from: string, message: string): void {
  if (stackLine.test(message)) journal.finding(`${from} printed a stack:\n${message}`);
  else if (!advice.test(message)) journal.finding(`${from} gave no advice: ${message}`);
}
