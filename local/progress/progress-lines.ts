import type { Progress } from '../../loader/progress.ts';
import { amountText, clock, leftText, rateText, type Tally } from './tally.ts';

const usualSilenceSeconds = 10;

/** Plain lines, for a log: one when a stage has ended, and one every ten seconds of a long one. */
export function progressLines(write: (line: string) => void, silenceSeconds = usualSilenceSeconds): Progress {
  return {
    begin(stage, total) {
      const startedAt = performance.now();
      const tally: Tally = { bytes: 0, rows: 0, total, seconds: 0 };
      let said = 0;
      const say = (...texts: string[]) => write(`${[stage, ...texts.filter((text) => text !== '')].join(', ')}\n`);
      return {
        advance({ bytes = 0, rows = 0 }) {
          tally.bytes += bytes;
          tally.rows += rows;
          tally.seconds = (performance.now() - startedAt) / 1000;
          if (tally.seconds - said < silenceSeconds) return;
          said = tally.seconds;
          say(amountText(tally), rateText(tally), leftText(tally));
        },
        end() {
          const seconds = (performance.now() - startedAt) / 1000;
          say(amountText(tally), `done in ${seconds < 10 ? `${seconds.toFixed(1)} s` : clock(seconds)}`);
        },
      };
    },
  };
}
