/**
 * What runs in a function's thread: loads its module and answers invocations from then on. It is JavaScript, as Node
 * would load its compiler for types in each of these threads otherwise: 4 to 7 MB, wherever it keeps no compiled code
 * yet (decision 0184).
 */
import { parentPort, workerData } from 'node:worker_threads';

/** @typedef {import('./instance.ts').SentInvocation} SentInvocation */
/** @typedef {import('../template/local-app.ts').FunctionSettings} FunctionSettings */

await serve(workerData);

/** @param {FunctionSettings & { claims: Int32Array }} settings `claims` is that of `startInstance` */
async function serve(settings) {
  delete process.env.NODE_COMPILE_CACHE;
  const send = (/** @type {import('./instance.ts').InstanceMessage} */ message) => parentPort?.postMessage(message);
  const printed = holdPrinted((text) => send({ printed: text }));
  const exported = await import(settings.module);
  const handler = exported[settings.handler];
  if (typeof handler !== 'function')
    throw new Error(`The module ${settings.module} exports no function ${settings.handler}`);
  let handling = 0;
  /** The event that was handed over in advance, until it is its turn. */
  let following = /** @type {SentInvocation | undefined} */ (undefined);
  const handle = async (/** @type {SentInvocation} */ invocation) => {
    handling++;
    const outcome = await run(settings, handler, invocation);
    handling--;
    // Claimed before the answer is sent: with that, the other thread hands over another one.
    const next = handling === 0 && following && claim(following) ? following : undefined;
    send({ number: invocation.number, outcome, printed: printed.take() });
    if (next) void handle(next);
  };
  const claim = (/** @type {SentInvocation} */ { number, inAdvance }) =>
    !inAdvance || Atomics.compareExchange(settings.claims, 0, number, 0) === number;
  parentPort?.on('message', (/** @type {SentInvocation} */ invocation) => {
    if (invocation.inAdvance && handling > 0) following = invocation;
    else if (claim(invocation)) void handle(invocation);
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
function context(settings, { requestId }) {
  const deadline = Date.now() + settings.timeoutMilliseconds;
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
