import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** How an error comes out of the Runtime API. */
type RuntimeError = { errorType: string; errorMessage: string; trace: string[] };
type Invocation = { response: unknown } | { error: RuntimeError; type: string | undefined };

export type LambdaRuntime = {
  /** The error of the start, where it went wrong. */
  started: Promise<RuntimeError | null>;
  invoke(event: unknown): Promise<Invocation>;
  logs(): string;
  stop(): Promise<void>;
};

const root = '/2018-06-01/runtime';

/**
 * Runs a bundle in a process of its own, as Lambda does: with nothing but its own files and environment, driven over
 * the Runtime API. @param taskRoot holds the bundle @param handler as Lambda is told it, `index.handler`
 */
export async function startLambda(
  taskRoot: string,
  handler: string,
  environment: Record<string, string>,
): Promise<LambdaRuntime> {
  const started = Promise.withResolvers<RuntimeError | null>();
  const waiting: ServerResponse[] = [];
  const events: { id: string; body: string }[] = [];
  const answers = new Map<string, (answer: Invocation) => void>();
  let count = 0;

  const deliver = () => {
    while (waiting.length > 0 && events.length > 0) {
      const event = events.shift();
      waiting
        .shift()
        ?.setHeader('lambda-runtime-aws-request-id', event?.id ?? '')
        .end(event?.body);
    }
  };
  const server = createServer(async (request, response) => {
    const path = request.url?.slice(root.length) ?? '';
    if (path === '/invocation/next') {
      started.resolve(null);
      waiting.push(response);
      deliver();
      return;
    }
    const body = await json(request);
    response.writeHead(202).end();
    if (path === '/init/error') started.resolve(body as RuntimeError);
    const [, id = '', kind] = /^\/invocation\/(\w+)\/(response|error)$/.exec(path) ?? [];
    const type = request.headers['lambda-runtime-function-error-type']?.toString();
    answers.get(id)?.(kind === 'error' ? { error: body as RuntimeError, type } : { response: body });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');

  let output = '';
  const child: ChildProcess = spawn(process.execPath, [`${import.meta.dirname}/bootstrap.mjs`], {
    cwd: taskRoot,
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: handler,
    },
  });
  const exited = once(child, 'exit');
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });

  return {
    started: started.promise,
    logs: () => output,
    invoke(event) {
      const id = `r${++count}`;
      const { promise, resolve } = Promise.withResolvers<Invocation>();
      answers.set(id, resolve);
      events.push({ id, body: JSON.stringify(event) });
      deliver();
      return promise;
    },
    async stop() {
      child.kill();
      await exited;
      server.closeAllConnections();
      server.close();
    },
  };
}
