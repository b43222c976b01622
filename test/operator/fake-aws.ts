import type { IncomingMessage } from 'node:http';
import { startHttpServer } from '../support/http-server.ts';

/** An answer in AWS's JSON protocol: a value, or an error by its name. */
export type AwsAnswer = { error: string; message?: string } | { value: unknown }; // the text of XML for a protocol that speaks it

/** Operations by name, `StartExecution`: what each gives for its parameters. */
export type AwsOperations = Record<string, (input: never) => AwsAnswer | Promise<AwsAnswer>>;

/** A stack of CloudFormation. */
export type FakeStack = { status?: string; outputs: Record<string, string> };

/**
 * AWS as far as the command line needs it: the JSON protocols, CloudFormation's outputs. `asked`
 * holds every operation; what `operations` lacks goes on to the engine at `forward`, and what
 * `refuses` says has no effect.
 */
export async function startFakeAws(
  stacks: Record<string, FakeStack>,
  operations: AwsOperations,
  forward?: string,
  refuses: (operation: string) => boolean = () => false,
) {
  const asked: { operation: string; input: Record<string, unknown> }[] = [];
  const { url, stop } = await startHttpServer(async (request, response) => {
    const body = await textOf(request);
    const target = request.headers['x-amz-target'];
    const isJson = typeof target === 'string';
    const { Action, ...query } = Object.fromEntries(new URLSearchParams(body));
    const operation = isJson
      ? (target.split('.').at(-1) ?? '')
      : (Action ?? `${request.method} ${request.url}`);
    const input = isJson || body.startsWith('{') ? JSON.parse(body || '{}') : query;
    asked.push({ operation, input });
    if (refuses(operation)) return response.writeHead(400).end('{"__type":"InternalServerError"}');
    if (operation === 'DescribeStacks') {
      const { status, text } = describeStacks(stacks, input.StackName);
      return response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
    }
    if (isJson && forward !== undefined && !(operation in operations)) {
      const { 'x-amz-date': date = '', authorization = '' } = request.headers;
      const headers = { 'x-amz-target': target, 'x-amz-date': String(date), authorization };
      const forwarded = await fetch(forward, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' },
        body,
      });
      return response.writeHead(forwarded.status).end(await forwarded.text());
    }
    const answer = (await (operations[operation] ?? defaults[operation])?.(input as never)) ?? {
      error: 'UnknownOperationException',
    };
    const failed = 'error' in answer;
    const value = failed
      ? { __type: answer.error, message: answer.message ?? answer.error }
      : answer.value;
    if (Action !== undefined) {
      const error = failed
        ? `<ErrorResponse><Error><Code>${answer.error}</Code><Message>${answer.message ?? answer.error}</Message></Error></ErrorResponse>`
        : '';
      return response
        .writeHead(failed ? 400 : 200, { 'content-type': 'text/xml' })
        .end(failed ? error : answer.value);
    }
    response
      .writeHead(failed ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify(value));
  });
  return {
    endpoint: url,
    asked,
    stop,
  };
}

/** Who every test is, unless its operations say otherwise. */
export const testCaller = 'arn:aws:sts::123456789012:assumed-role/Operator/ann';

/** CloudFormation's answer to GetTemplate. */
export function templateAnswer(template: string): AwsAnswer {
  const body = `<TemplateBody>${template.replaceAll('"', '&quot;')}</TemplateBody>`;
  return {
    value: `<GetTemplateResponse><GetTemplateResult>${body}</GetTemplateResult></GetTemplateResponse>`,
  };
}

/** Sends what this process asks of AWS to `endpoint`, until the test file ends. */
export function useAws(endpoint: string, more: NodeJS.ProcessEnv = {}): void {
  const identity = {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  Object.assign(process.env, {
    ...identity,
    AWS_MAX_ATTEMPTS: '1',
    AWS_ENDPOINT_URL: endpoint,
    ...more,
  });
}

const defaults: AwsOperations = {
  GetCallerIdentity: () => ({
    value: `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${testCaller}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
  }),
};

function describeStacks(
  stacks: Record<string, FakeStack>,
  name: string,
): { status: number; text: string } {
  const found = stacks[name];
  if (!found) {
    const error = `<Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message>`;
    return { status: 400, text: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
  }
  const members = Object.entries(found.outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const status = `<StackStatus>${found.status ?? 'CREATE_COMPLETE'}</StackStatus>`;
  const stack = `<member><StackName>${name}</StackName>${status}<Outputs>${members.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  return { status: 200, text: `<DescribeStacksResponse>${result}</DescribeStacksResponse>` };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
