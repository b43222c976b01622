import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  type Admin,
  type AdminConfig,
  type AdminErrorCode,
  createAdmin,
  isAdminError,
} from 'bag-adres-admin';

/**
 * Who is signed in. How that is known is the portal's own affair: a session, a token, a gateway in
 * front of it.
 */
export type Customer = { account: string; email: string };

export type PortalOptions = Omit<AdminConfig, 'actor'> & {
  customerOf: (request: IncomingMessage) => Promise<Customer | undefined>;
  /** The plans that a customer may choose without asking anyone. */
  plansOnOffer: readonly string[];
};

type Body = { plan?: unknown; label?: unknown; token?: unknown };
type Reply = { status: number; body: unknown };
type Action = (
  admin: Admin,
  customer: Customer,
  input: { id: string; body: Body },
) => Promise<Reply>;

const statusOf: Record<AdminErrorCode, number> = {
  invalid: 422,
  not_found: 404,
  exists: 409,
  conflict: 409,
  too_many_keys: 409,
  too_many_members: 409,
  already_created: 409,
  already_replaced: 409,
  not_suspended: 409,
};

/**
 * The back end of a portal: each customer sees and changes an account of their own, and no other.
 */
export function createPortal({ customerOf, plansOnOffer, ...config }: PortalOptions): Server {
  const actions: Record<string, Action> = {
    'GET /usage': async (admin, { account }) => {
      const { plan, state, windows } = await admin.accounts.show(account);
      return { status: 200, body: { plan, state, windows } };
    },
    'POST /plan': async (admin, { account }, { body }) => {
      const plan = String(body.plan);
      if (!plansOnOffer.includes(plan)) {
        return { status: 403, body: { error: 'That plan is not on offer.' } };
      }
      const { windows } = await admin.accounts.set({ id: account, plan });
      return { status: 200, body: { plan, windows } };
    },
    'GET /keys': async (admin, { account }) => ({
      status: 200,
      body: await admin.keys.list(account),
    }),
    // The answer holds the only copy of the key: show it once, and log no bodies.
    'POST /keys': async (admin, { account }, { body }) => ({
      status: 201,
      body: await admin.keys.create({ account, label: String(body.label ?? '') }),
    }),
    'DELETE /keys': async (admin, { account }, { id }) => ({
      status: 200,
      body: await admin.keys.revoke({ account, keyId: id }),
    }),
    'GET /changes': async (admin, { account }) => ({
      status: 200,
      body: await admin.accounts.audit(account, { limit: 50 }),
    }),
  };

  async function answer(request: IncomingMessage): Promise<Reply> {
    const customer = await customerOf(request);
    if (!customer) return { status: 401, body: { error: 'Sign in first.' } };
    const [, path = '', id = ''] = new URL(request.url ?? '/', 'http://portal').pathname.split('/');
    const action = actions[`${request.method} /${path}`];
    if (!action) return { status: 404, body: { error: 'Nothing is here.' } };
    // Only JSON: a form of another site can't send it, so it can't act for whoever is signed in.
    const isJson = request.headers['content-type'] === 'application/json';
    if (request.method === 'POST' && !isJson) return { status: 415, body: { error: 'Send JSON.' } };
    const body = request.method === 'POST' ? ((await json(request)) as Body) : {};
    // One for each request: whoever is signed in is whom the audit names.
    return await action(createAdmin({ ...config, actor: customer.email }), customer, { id, body });
  }

  return createServer(async (request, response) => {
    const { status, body } = await answer(request).catch(replyTo);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  });
}

function replyTo(error: unknown): Reply {
  if (error instanceof SyntaxError) return { status: 400, body: { error: 'That is no JSON.' } };
  if (!isAdminError(error)) return { status: 500, body: { error: 'Something went wrong.' } };
  return { status: statusOf[error.code], body: { error: error.message } };
}
