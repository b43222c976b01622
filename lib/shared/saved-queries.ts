import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { deploymentName } from '../config/deployment.ts';

/** A query of docs/runbook.md. A test compares the two. */
export type SavedQuery = {
  /** The runbook's chapter. */
  chapter: string;
  /** What it shows; unique in its chapter. */
  name: string;
  /** The log groups that it reads. */
  logs: ILogGroup[];
  query: string;
};

export type SavedQueriesProps = { stage: string; queries: SavedQuery[] };

/** Saves queries in CloudWatch Logs Insights as `DEPLOYMENT/CHAPTER/NAME`, where an operator picks them from a list. They cost nothing. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { stage, queries }: SavedQueriesProps) {
    super(scope, id);
    for (const { chapter, name, logs, query } of queries)
      new CfnQueryDefinition(this, `${chapter} ${name}`.replaceAll(' ', ''), {
        name: `${deploymentName(stage)}/${chapter}/${name}`,
        queryString: query,
        logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      });
  }
}
