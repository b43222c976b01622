import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { S3Client } from '@aws-sdk/client-s3';

/** One call as a permission names it: `s3:GetObject` on `snapshots/manifest.json`. */
export type Call = { action: string; resource: string };

const actions: Readonly<Record<string, string>> = {
  GetObjectCommand: 's3:GetObject',
  HeadObjectCommand: 's3:GetObject',
  ListObjectsV2Command: 's3:ListBucket',
  PutObjectCommand: 's3:PutObject',
  CreateMultipartUploadCommand: 's3:PutObject',
  UploadPartCommand: 's3:PutObject',
  CompleteMultipartUploadCommand: 's3:PutObject',
  AbortMultipartUploadCommand: 's3:AbortMultipartUpload',
  DeleteObjectsCommand: 's3:DeleteObject',
};

type S3Input = { Bucket?: string; Key?: string; Delete?: { Objects?: { Key: string }[] } };

/** Takes down what each worker asks of S3, DynamoDB and Step Functions while it works. */
export function recordCalls({ table, execution }: { table: string; execution: string }) {
  const worker = new AsyncLocalStorage<string>();
  const calls = new Map<string, Call[]>();
  let operations: Record<string, number> = {};
  const add = (action: string, resource: string, name = worker.getStore()) => {
    if (name === undefined) return;
    const list = calls.get(name) ?? [];
    list.push({ action, resource });
    calls.set(name, list);
  };
  // The handlers keep these clients to themselves; what they send is seen all the same.
  const onRequest = (message: unknown) => {
    const target = (message as { request: ClientRequest }).request.getHeader('x-amz-target');
    if (target === undefined) return;
    const [service, operation = ''] = String(target).split('.');
    if (service !== 'AWSStepFunctions' && worker.getStore() !== undefined) {
      operations[operation] = (operations[operation] ?? 0) + 1;
    }
    if (service === 'AWSStepFunctions') add(`states:${operation}`, execution);
    // A transaction here is one put under the condition that the lock is held.
    else if (operation === 'TransactWriteItems') {
      for (const action of ['PutItem', 'ConditionCheckItem']) add(`dynamodb:${action}`, table);
    } else {
      add(`dynamodb:${operation}`, table);
    }
  };
  subscribe('http.client.request.start', onRequest);
  return {
    calls,
    add,
    during: <T>(name: string, work: () => T): T => worker.run(name, work),
    watch(client: S3Client): void {
      const send = client.send.bind(client) as (...sent: unknown[]) => Promise<never>;
      client.send = (
        command: { input: S3Input; constructor: { name: string } },
        ...more: unknown[]
      ) => {
        const { Bucket = '', Key, Delete } = command.input;
        const action = actions[command.constructor.name] ?? command.constructor.name;
        const keys =
          Delete?.Objects?.map((object) => object.Key) ?? (Key === undefined ? [] : [Key]);
        if (keys.length === 0) add(action, Bucket);
        for (const key of keys) add(action, `${Bucket}/${key}`);
        return send(command, ...more);
      };
    },
    /**
     * How often the workers asked DynamoDB for each operation since this was last called:
     * `{PutItem: 1}`.
     */
    takeOperations(): Record<string, number> {
      const taken = operations;
      operations = {};
      return taken;
    },
    stop: () => unsubscribe('http.client.request.start', onRequest),
  };
}
