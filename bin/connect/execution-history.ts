import type { HistoryEvent } from '@aws-sdk/client-sfn';
import type { ManifestEntry } from '../../loader/dataset/manifest.ts';
import type { LoadReport } from '../../loader/load-report.ts';

/** What the history of an execution tells of a load so far. */
export type ExecutionStory = {
  /** The states it has been in, in order. */
  entered: string[];
  /** The map that runs or ran last in a state. */
  mapRuns: { state: string; arn: string }[];
  /** What the guard said of the last load. */
  report: LoadReport | null;
  /** What was published last. */
  published: ManifestEntry | null;
};

/** Reads the events of one execution, oldest first. */
export function executionStory(events: readonly HistoryEvent[]): ExecutionStory {
  const story: ExecutionStory = { entered: [], mapRuns: [], report: null, published: null };
  for (const { stateEnteredEventDetails, stateExitedEventDetails, mapRunStartedEventDetails } of events) {
    if (stateEnteredEventDetails?.name) story.entered.push(stateEnteredEventDetails.name);
    const arn = mapRunStartedEventDetails?.mapRunArn;
    if (arn) story.mapRuns.push({ state: story.entered.at(-1) ?? '', arn });
    const output = parsed(stateExitedEventDetails?.output);
    if (stateExitedEventDetails?.name === 'Guard') story.report = (output?.report as LoadReport) ?? null;
    if (stateExitedEventDetails?.name === 'Publish') story.published = output as ManifestEntry | null;
  }
  return story;
}

/** An output that was cut off is as good as none. */
function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
