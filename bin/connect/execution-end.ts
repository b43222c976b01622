import type { DescribeExecutionOutput } from '@aws-sdk/client-sfn';
import type { ManifestEntry } from '../../loader/dataset/manifest.ts';
import { finishedReport, type LoadReport, RefusedLoadError, unchangedReport } from '../../loader/load-report.ts';
import { CommandError } from '../commands/command-error.ts';
import { explainLoadFailure } from '../output/explain-load-failure.ts';
import { causeText, type ExecutionStory } from './execution-history.ts';

type Unchanged = Parameters<typeof unchangedReport>[0];

/** The report of an execution that succeeded; else the error that says why not. @throws RefusedLoadError, CommandError */
export function executionReport(
  { name = '', status, output, error = '', cause = '' }: DescribeExecutionOutput,
  story: ExecutionStory,
): LoadReport {
  if (status === 'SUCCEEDED') return succeeded(JSON.parse(output ?? 'null'), story);
  if (status === 'FAILED' && error === 'LoadRefused') throw refused(story, cause);
  if (status === 'FAILED') {
    const { code, message } = explainLoadFailure(error, causeText(cause)) ?? {
      code: 'failed',
      message: `The load failed at ${lastStep(story)}: ${error}: ${causeText(cause)}`,
    };
    throw new CommandError(code, message, { details: { execution: name } });
  }
  const what = status === 'TIMED_OUT' ? 'took longer than a load may' : 'was stopped';
  const message = `The load ${name} ${what}, at ${lastStep(story)}. Run the load again: it goes on where it stopped.`;
  throw new CommandError((status ?? 'failed').toLowerCase(), message, { details: { execution: name } });
}

function succeeded(output: Unchanged | LoadReport | ManifestEntry, story: ExecutionStory): LoadReport {
  if ('outcome' in output) return output;
  if (!('action' in output)) return story.report ?? finishedReport(output);
  // What was under way from before was finished, and beside it there was nothing to do.
  return story.published ? finishedReport(story.published) : unchangedReport(output);
}

function refused({ report }: ExecutionStory, cause: string): Error {
  if (report) return new RefusedLoadError(report);
  return new CommandError('blocked', `The guard stopped the load, nothing was written: ${cause}`);
}

const endings = ['ReleaseAfterFailure', 'TellFailure', 'Failed'];

function lastStep({ entered }: ExecutionStory): string {
  return entered.findLast((state) => !endings.includes(state)) ?? 'its start';
}
