/**
 * What runs in a function's thread: loads its module and answers invocations from then on. It is JavaScript, as Node
 * would load its compiler for types in each of these threads otherwise: 4 to 7 MB, wherever it keeps no compiled code
 * yet (decision 0117).
 */
import { parentPort, workerData } from 'node:worker_threads';

/** @typedef {import('./instance.ts').SentInvocation} SentInvocation */
/** @typedef {import('../template/local-app.ts').FunctionSettings} FunctionSettings */

await serve(workerData);

/** @param {FunctionSettings} settings */
async function serve(settings) {
  delete process.env.NODE_COMPILE_CACHE;
  const send = (/** @type {import('./instance.ts').InstanceMessage} */ message) => parentPort?.postMessage(message);
  const printed = holdPrinted((text) => send({ printed: text }));
  const exported = await import(settings.module);
  const handler = exported[settings.handler];
  if (typeof handler !== 'function')
    throw new Error(`The module ${settings.module} exports no function ${settings.handler}`);
  parentPort?.on('message', async (/** @type {SentInvocation} */ invocation) => {
    const outcome = await run(settings, handler, invocation);
    send({ number: invocation.number, outcome, printed: printed.take() });
  });
  send('ready');
}

/**
 * @param {FunctionSettings} settings
 * @param {import('aws-lambda').Handler<unknown, unknown>} handler
 * @param {SentInvocation} invocation
 * @returns {Promise<import('./instance.ts').Outcome>}
 */
async function run(settings, handler, invocation) {
  try {
    const result = await handler(JSON.parse(invocation.event), context(settings, invocation), () => undefined);
    return { payload: JSON.stringify(result) ?? 'null' };
  } catch (error) {
    return { failure: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error) };
  }
}

/**
 * @param {FunctionSettings} settings
 * @param {SentInvocation} invocation
 * @returns {import('aws-lambda').Context}
 */
function context(settings, { requestId, deadline }) {
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

/**
 * Holds what the thread writes to standard output for `take`, which adds it to a message that is sent anyway. Sent by
 * itself it wakes the other thread, whose receipt wakes this one again: a tenth of a lookup. What nobody takes within
 * the turn of the event loop, and at the end of the thread, goes to `send`.
 *
 * @param {(printed: string) => void} send
 * @returns {{ take: () => string }}
 */
function holdPrinted(send) {
  /** More than this is passed on at once, so that a function that writes a lot holds little of it. */
  const heldCharacters = 16_384;
  let held = '';
  const take = () => {
    const printed = held;
    held = '';
    return printed;
  };
  const flush = () => {
    if (held !== '') send(take());
  };
  const write = (
    /** @type {string | Uint8Array} */ chunk,
    /** @type {any} */ encoding,
    /** @type {any} */ callback,
  ) => {
    if (held === '') setImmediate(flush);
    held += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    if (held.length > heldCharacters) flush();
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  process.stdout.write = write;
  process.on('exit', flush);
  return { take };
}
