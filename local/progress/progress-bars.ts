import { SingleBar } from 'cli-progress';
import type { LoadStage, Progress } from '../../loader/progress.ts';
import { amountText, leftText, rateText, shareOf, type Tally } from './tally.ts';

const barSteps = 1000;
const barCharacters = 24;

/** A bar a stage, for a terminal: bytes and rows, rate, time left. */
export function progressBars(stream: NodeJS.WriteStream): Progress {
  return {
    begin(stage, total) {
      const startedAt = performance.now();
      const tally: Tally = { bytes: 0, rows: 0, total, seconds: 0 };
      const bar = new SingleBar({ stream, hideCursor: true, format: () => lineOf(stage, tally) });
      const show = () => {
        tally.seconds = (performance.now() - startedAt) / 1000;
        bar.update(Math.round((shareOf(tally) ?? 0) * barSteps));
      };
      bar.start(barSteps, 0);
      return {
        advance({ bytes = 0, rows = 0 }) {
          tally.bytes += bytes;
          tally.rows += rows;
          show();
        },
        end() {
          show();
          bar.stop();
        },
      };
    },
  };
}

function lineOf(stage: LoadStage, tally: Tally): string {
  const share = shareOf(tally);
  const filled = Math.round((share ?? 0) * barCharacters);
  const bar = share === null ? '' : `${'█'.repeat(filled)}${'░'.repeat(barCharacters - filled)}`;
  const percent = share === null ? '' : `${Math.floor(share * 100)} %`;
  const texts = [bar, percent, amountText(tally), rateText(tally), share === 1 ? '' : leftText(tally)];
  return [stage.padEnd(10), ...texts.filter((text) => text !== '')].join('  ');
}
