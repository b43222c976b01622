import { parentPort, workerData } from 'node:worker_threads';
import type { Context, Handler } from 'aws-lambda';
import type { FunctionSettings } from '../template/local-app.ts';
import type { Answer, Invocation, Outcome } from './instance.ts';

/** Runs in a worker thread: one execution environment of a function, with its own modules and environment variables. */
const settings = workerData as FunctionSettings;

async function run(handler: Handler<unknown, unknown>, invocation: Invocation): Promise<Outcome> {
  try {
    const result = await handler(JSON.parse(invocation.event), context(invocation), () => undefined);
    return { payload: JSON.stringify(result) ?? 'null' };
  } catch (error) {
    return { failure: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error) };
  }
}

function context({ requestId, deadline }: Invocation): Context {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: settings.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:eu-west-1:000000000000:function:${settings.name}`,
    logGroupName: `/aws/lambda/${settings.name}`,
    logStreamName: 'local',
    memoryLimitInMB: `${settings.memoryMegabytes}`,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
}

const exported: Record<string, unknown> = await import(settings.module);
const handler = exported[settings.handler];
if (typeof handler !== 'function')
  throw new Error(`The module ${settings.module} exports no function ${settings.handler}`);
parentPort?.on('message', async (invocation: Invocation) => {
  const outcome = await run(handler as Handler<unknown, unknown>, invocation);
  parentPort?.postMessage({ number: invocation.number, outcome } satisfies Answer);
});
parentPort?.postMessage('ready');
