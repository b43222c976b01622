import type { HistoryEvent } from '@aws-sdk/client-sfn';
import type { ManifestEntry } from '../../loader/dataset/manifest.ts';
import type { LoadReport } from '../../loader/load-report.ts';

/** What the history of an execution tells of a load so far. */
export type ExecutionStory = {
  /** The states it has been in, in order. */
  entered: string[];
  /** What the last state has failed with, as long as it is tried again. */
  trouble: string | null;
  /** The map that runs or ran last in a state. */
  mapRuns: { state: string; arn: string }[];
  /** What the guard said of the last load. */
  report: LoadReport | null;
  /** What was published last. */
  published: ManifestEntry | null;
};

/** Reads the events of one execution, oldest first. */
export function executionStory(events: readonly HistoryEvent[]): ExecutionStory {
  const story: ExecutionStory = { entered: [], trouble: null, mapRuns: [], report: null, published: null };
  for (const event of events) {
    const { stateEnteredEventDetails, stateExitedEventDetails, taskFailedEventDetails } = event;
    if (stateEnteredEventDetails?.name) story.entered.push(stateEnteredEventDetails.name);
    if (stateEnteredEventDetails || stateExitedEventDetails) story.trouble = null;
    if (taskFailedEventDetails) story.trouble = causeText(taskFailedEventDetails.cause ?? '');
    const arn = event.mapRunStartedEventDetails?.mapRunArn;
    if (arn) story.mapRuns.push({ state: story.entered.at(-1) ?? '', arn });
    const output = parsed(stateExitedEventDetails?.output);
    if (stateExitedEventDetails?.name === 'Guard') story.report = (output?.report as LoadReport) ?? null;
    if (stateExitedEventDetails?.name === 'Publish') story.published = output as ManifestEntry | null;
  }
  return story;
}

/** The message in the cause of an error, which Lambda gives as JSON. */
export function causeText(cause: string): string {
  const { errorMessage } = parsed(cause) ?? {};
  return typeof errorMessage === 'string' ? errorMessage : cause;
}

/** An output that was cut off is as good as none. */
function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
