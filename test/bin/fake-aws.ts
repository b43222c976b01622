import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer in AWS's JSON protocol: a value, or an error by its name. */
export type AwsAnswer = { error: string; message?: string } | { value: unknown };

/** Operations by name, `StartExecution`: what each gives for its parameters. */
export type AwsOperations = Record<string, (input: never) => AwsAnswer | Promise<AwsAnswer>>;

/** AWS as far as its JSON protocols and CloudFormation's outputs matter to the command line; `asked` holds every operation. */
export async function startFakeAws(stacks: Record<string, Record<string, string>>, operations: AwsOperations) {
  const asked: { operation: string; input: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const target = request.headers['x-amz-target'];
    const isJson = typeof target === 'string';
    const operation = isJson ? (target.split('.').at(-1) ?? '') : 'DescribeStacks';
    const input = isJson ? JSON.parse(body || '{}') : Object.fromEntries(new URLSearchParams(body));
    asked.push({ operation, input });
    if (!isJson) {
      const { status, text } = describeStacks(stacks, input.StackName);
      return response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
    }
    const answer = (await operations[operation]?.(input as never)) ?? { error: 'UnknownOperationException' };
    const failed = 'error' in answer;
    const value = failed ? { __type: answer.error, message: answer.message ?? answer.error } : answer.value;
    response.writeHead(failed ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(value));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function describeStacks(
  stacks: Record<string, Record<string, string>>,
  name: string,
): { status: number; text: string } {
  const outputs = stacks[name];
  if (!outputs) {
    const error = `<Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message>`;
    return { status: 400, text: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
  }
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<member><StackName>${name}</StackName><Outputs>${members.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  return { status: 200, text: `<DescribeStacksResponse>${result}</DescribeStacksResponse>` };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
