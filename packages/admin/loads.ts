/**
 * The register's loads, for portals that let operators approve them; as stable as the rest of the
 * package.
 */

import type { S3Client } from '@aws-sdk/client-s3';
import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { s3Storage } from '../../loader/storage/s3.ts';
import { createAdminStore } from './accounts/admin-store.ts';
import { type LoadRunner, type Loads, loadsOf } from './load-approvals.ts';

export { addressText } from '../../core/addresses/address-key.ts';
export type {
  ChangeExample as LoadExample,
  ObjectenCounts,
} from '../../loader/guard/load-counts.ts';
export type { LoadsRefusals } from './accounts/admin-error.ts';
export type { AuditAction, AuditEntry, AuditPage, AuditPageOptions } from './accounts/audit-log.ts';
export type {
  Approval,
  ApprovalState,
  Decided,
  LoadChanges,
  LoadDecision,
  LoadObjection,
  LoadRunner,
  Loads,
  PublishedLoad,
  RegisterView,
  RunningLoad,
  WaitingLoad,
} from './load-approvals.ts';

export type LoadsConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table, which keeps the approvals and their audit. */
  table: string;
  s3: S3Client;
  /** The bucket of the loader. */
  bucket: string;
  stepFunctions: SFNClient;
  /** The ARN of the state machine of the loader. */
  stateMachine: string;
  /** Who approves, for the audit. */
  actor?: string | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
};

/**
 * The register of a deployment with its latest and waiting loads, for a portal that lets operators
 * approve loads. It throws refusals as `AdminError`.
 */
export function createLoads(config: LoadsConfig): Loads {
  const {
    client,
    table,
    s3,
    bucket,
    stepFunctions,
    stateMachine,
    actor = 'unknown',
    now = Date.now,
  } = config;
  const store = createAdminStore(client, table, actor, now);
  return loadsOf(store, s3Storage(s3, bucket), loadMachine(stepFunctions, stateMachine));
}

export function loadMachine(client: SFNClient, stateMachineArn: string): LoadRunner {
  const executionArn = (name: string) =>
    `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  return {
    async running() {
      const command = new ListExecutionsCommand({
        stateMachineArn,
        statusFilter: 'RUNNING',
        maxResults: 10,
      });
      const { executions = [] } = await client.send(command);
      return executions.map(({ name = '', startDate }) => ({
        name,
        since: startDate?.toISOString() ?? '',
      }));
    },
    async start(name, load, decision) {
      // `again` as the command line sends it: the input of the daily check is empty.
      const input = JSON.stringify({ again: false, [decision]: load });
      try {
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input }));
      } catch (error) {
        if (!(error instanceof ExecutionAlreadyExists)) throw error; // otherwise it has already run
      }
    },
    async stateOf(name) {
      try {
        const { status } = await client.send(
          new DescribeExecutionCommand({ executionArn: executionArn(name) }),
        );
        if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return 'running';
        return status === 'SUCCEEDED' ? 'done' : 'failed';
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return 'none';
        throw error;
      }
    },
  };
}
