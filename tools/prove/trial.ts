/** A trial deployment: the place it is in, and the commands with which its steps act on it. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { gatewayEvent } from '../../test/support/gateway-event.ts';
import { operatorFolder, region, startAws } from '../judges/aws/aws.ts';
import { startMinistack } from '../judges/http/http.ts';

/** How much of everything a trial does: the whole in AWS, a little on an emulator of it. */
export type Scale = {
  lookups: number;
  callers: number;
  perSecond: number;
  seconds: number;
  freezeMinutes: number[];
  pollSeconds: number;
};

/** An AWS: an account, or an emulator on this machine. */
export type Place = {
  /** The variables with which the AWS CLI, the CDK, and our commands reach it. */
  environment: NodeJS.ProcessEnv;
  region: string;
  scale: Scale;
  /** An emulator has no change sets and no gradual deployments. */
  isEmulator: boolean;
  /**
   * The URL of the deployed API, as this machine reaches it; undefined if the place serves no HTTP.
   */
  origin(baseUrl: string): string | undefined;
  stop(): Promise<void>;
};

const whole: Scale = {
  lookups: 10_000,
  callers: 50,
  perSecond: 1_000,
  seconds: 60,
  freezeMinutes: [1, 3, 8, 30],
  pollSeconds: 15,
};
const little: Scale = {
  lookups: 20,
  callers: 4,
  perSecond: 4,
  seconds: 2,
  freezeMinutes: [0.01, 0.05],
  pollSeconds: 0.5,
};

/** The account that a profile of the AWS CLI belongs to. */
export function inAws(profile: string, region: string): Place {
  const environment = { AWS_PROFILE: profile, AWS_REGION: region, AWS_DEFAULT_REGION: region };
  return {
    environment,
    region,
    scale: whole,
    isEmulator: false,
    origin: (url) => url,
    stop: async () => undefined,
  };
}

/** An emulator, started for the trial. */
export async function onEmulator(name: 'moto' | 'ministack'): Promise<Place> {
  const { environment, stop, ...emulator } = await (name === 'moto'
    ? startAws()
    : startMinistack());
  return {
    environment: { ...environment, AWS_DEFAULT_REGION: region },
    region,
    scale: little,
    isEmulator: true,
    origin: (url) => ('origin' in emulator ? emulator.origin(url) : undefined),
    stop,
  };
}

/** The stage of the trial, whose resources have it in their names. */
export const stage = 'prove';
export const deployment = `bag-adres-${stage}`;
const qualifier = 'bagprove';
export const toolkit = `${deployment}-toolkit`;
export const assetBucket = (account: string, region: string) =>
  `cdk-${qualifier}-assets-${account}-${region}`;
const address = 'postcode=1381AA&huisnummer=11';

// biome-ignore lint/suspicious/noExplicitAny: answers of all services
type Json = any;
export type Answer = { status: number; milliseconds: number; body: Json; log: string };

export class Trial {
  readonly place: Place;
  readonly folder: string;
  readonly account: string;
  readonly extract: string;
  /**
   * Aborted when the trial is to end: what waits or repeats stops, a command that runs still ends.
   */
  readonly signal: AbortSignal;
  /**
   * The key of the trial's customer, the lookups that it was charged for, and those that may have
   * been charged.
   */
  key = '';
  charged = 0;
  unknown = 0;
  readonly begun = new Date();
  #certificateArn: string | undefined;
  readonly #outputs = new Map<string, string>();
  readonly #lambda: LambdaClient;

  private constructor(
    place: Place,
    folder: string,
    account: string,
    extract: string,
    signal: AbortSignal,
  ) {
    this.place = place;
    this.folder = folder;
    this.account = account;
    this.extract = extract;
    this.signal = signal;
    Object.assign(process.env, place.environment);
    this.#lambda = new LambdaClient({ region: place.region });
  }

  static async begin(place: Place, extract: string, signal: AbortSignal): Promise<Trial> {
    const folder = await operatorFolder();
    const { Account } = await aws(place, folder, 'sts', 'get-caller-identity');
    return new Trial(place, folder, Account, extract, signal);
  }

  /** Calls AWS by its own command line. */
  aws(service: string, operation: string, input: Json = {}): Promise<Json> {
    return aws(this.place, this.folder, service, operation, input);
  }

  /** Runs a command of the installed package, which is printed only if it fails. */
  bagAdres(...args: string[]): Promise<string> {
    return execute(this.folder, this.#bin('bag-adres'), args, this.place.environment);
  }

  /** The same, on the trial. */
  onTrial(...args: string[]): Promise<string> {
    return this.bagAdres(...args, '--stage', stage);
  }

  npm(...args: string[]): Promise<string> {
    return execute(this.folder, 'npm', args, this.place.environment);
  }

  async bootstrap(): Promise<void> {
    const where = `aws://${this.account}/${this.place.region}`;
    const options = ['--qualifier', qualifier, '--toolkit-stack-name', toolkit];
    // Not in the folder itself, whose cdk.json asks for a synthesis first.
    const elsewhere = join(this.folder, 'node_modules');
    await execute(
      elsewhere,
      this.#bin('cdk'),
      ['bootstrap', where, ...options],
      this.place.environment,
    );
  }

  /**
   * Deploys all stacks of the trial, or only one of them, with these settings beside its own.
   */
  async deploy(
    settings: object = {},
    { gradual = false, only }: { gradual?: boolean; only?: string } = {},
  ): Promise<void> {
    this.#configure(settings, gradual);
    const direct = this.place.isEmulator ? ['--method', 'direct'] : [];
    await this.#cdk(
      'deploy',
      ...(only ? [`${deployment}-${only}`, '--exclusively'] : ['--all']),
      '--toolkit-stack-name',
      toolkit,
      '--require-approval',
      'never',
      ...direct,
    );
    for (const part of ['data', 'service', 'loader']) {
      const { Stacks } = await this.aws('cloudformation', 'describe-stacks', {
        StackName: `${deployment}-${part}`,
      });
      for (const { OutputKey, OutputValue } of Stacks[0].Outputs) {
        this.#outputs.set(OutputKey, OutputValue);
      }
    }
  }

  async destroy(): Promise<void> {
    this.#configure({}, false);
    await this.#cdk('destroy', '--all', '--force');
  }

  /** Imports a certificate for a host name, signed by itself. @returns its ARN */
  async importCertificate(name: string): Promise<string> {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', ...subject];
    const files = ['-keyout', 'certificate-key.pem', '-out', 'certificate.pem'];
    await execute(this.folder, 'openssl', [...made, ...files], {});
    const given = ['--certificate', 'fileb://certificate.pem'];
    const key = ['--private-key', 'fileb://certificate-key.pem'];
    const args = ['acm', 'import-certificate', ...given, ...key, '--output', 'json'];
    const answer = await execute(this.folder, 'aws', args, this.place.environment);
    this.#certificateArn = JSON.parse(answer).CertificateArn;
    return this.#certificateArn ?? '';
  }

  async removeCertificate(): Promise<void> {
    if (this.#certificateArn === undefined) return;
    await this.aws('acm', 'delete-certificate', { CertificateArn: this.#certificateArn });
  }

  output(name: string): string {
    const value = this.#outputs.get(name);
    if (value === undefined) throw new Error(`The deployment has no output ${name}.`);
    return value;
  }

  /** Looks up an address of Weesp over HTTP; where the place serves none, by an invocation. */
  async lookUp(key = this.key): Promise<Answer> {
    const url = this.place.origin(this.output('BaseUrl'));
    if (url === undefined) return this.invoke(key);
    const started = performance.now();
    const response = await fetch(`${url}/v1/address?${address}`, { headers: { 'x-api-key': key } });
    const body = await response.json();
    this.#count(response.status);
    return { status: response.status, milliseconds: performance.now() - started, body, log: '' };
  }

  /** The same by an invocation of the function, which returns the end of its log. */
  async invoke(key = this.key): Promise<Answer> {
    const FunctionName = `${await this.#addressFunction()}:live`;
    const event = gatewayEvent(`/v1/address?${address}`, {
      headers: { 'x-api-key': key },
      requestId: randomUUID(),
    });
    const started = performance.now();
    const command = new InvokeCommand({
      FunctionName,
      Payload: JSON.stringify(event),
      LogType: 'Tail',
    });
    const { Payload, LogResult = '' } = await this.#lambda.send(command);
    const milliseconds = performance.now() - started;
    const { statusCode = 0, body = '{}' } = JSON.parse(Buffer.from(Payload ?? []).toString());
    this.#count(statusCode);
    return {
      status: statusCode,
      milliseconds,
      body: JSON.parse(body),
      log: Buffer.from(LogResult, 'base64').toString(),
    };
  }

  /** Waits; returns at once if the trial is to end. */
  async wait(seconds: number): Promise<void> {
    await sleep(seconds * 1_000, undefined, { signal: this.signal }).catch(() => undefined);
    this.signal.throwIfAborted();
  }

  #count(status: number): void {
    if (status === 200) this.charged++;
    if (status === 503) this.unknown++;
  }

  async #addressFunction(): Promise<string> {
    const known = this.#outputs.get('AddressFunction');
    if (known !== undefined) return known;
    const input = { StackName: `${deployment}-service` };
    const { StackResources } = await this.aws('cloudformation', 'describe-stack-resources', input);
    const isIt = ({ ResourceType, LogicalResourceId }: Json) =>
      ResourceType === 'AWS::Lambda::Function' && LogicalResourceId.startsWith('AddressFunction');
    const name: string = StackResources.find(isIt).PhysicalResourceId;
    this.#outputs.set('AddressFunction', name);
    return name;
  }

  #bin(command: string): string {
    return join(this.folder, 'node_modules/.bin', command);
  }

  #configure(settings: object, gradual: boolean): void {
    const own = {
      account: this.account,
      region: this.place.region,
      removalPolicy: 'destroy',
      schedule: 'off',
      guard: { minimumAddresses: 1 },
      throttle: { ratePerSecond: 2_000, burst: 1_000 },
    };
    const context = {
      'bagAdres.stage': stage,
      '@aws-cdk/core:bootstrapQualifier': qualifier,
      ...(!gradual && { 'bagAdres.deployment': 'all-at-once' }),
    };
    const write = (file: string, content: object) =>
      writeFileSync(join(this.folder, file), JSON.stringify(content));
    write('bag-adres.json', { stages: { [stage]: { ...own, ...settings } } });
    write('cdk.json', { app: 'node_modules/.bin/bag-adres app', context });
  }

  /**
   * Without the rules that the CDK checks templates by: they take most of the time, and tests check
   * them.
   */
  #cdk(command: string, ...options: string[]): Promise<string> {
    const variables = { ...this.place.environment, CDK_VALIDATION: 'false' };
    const args = [command, '--no-notices', ...options];
    return execute(this.folder, this.#bin('cdk'), args, variables);
  }
}

async function aws(
  place: Place,
  folder: string,
  service: string,
  operation: string,
  input: Json = {},
): Promise<Json> {
  const args = [service, operation, '--output', 'json', '--cli-input-json', JSON.stringify(input)];
  return JSON.parse((await execute(folder, 'aws', args, place.environment)) || '{}');
}

/**
 * Runs a command in a process group of its own, so that Ctrl-C lets it end. @throws Error with what
 * it printed
 */
function execute(
  cwd: string,
  command: string,
  args: string[],
  variables: NodeJS.ProcessEnv,
): Promise<string> {
  return new Promise((done, fail) => {
    const env = { ...process.env, INIT_CWD: cwd, ...variables };
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done(out);
      else {
        fail(
          new Error(
            `${command.split('/').at(-1)} ${args.slice(0, 3).join(' ')}: ${`${out}${err}`.slice(-1_500)}`,
          ),
        );
      }
    });
  });
}
