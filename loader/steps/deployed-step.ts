import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { metricNames, metricNamespace, environment as variables, versionDimension } from '../../core/names.ts';
import type { ChangeCounts } from '../dataset/lines.ts';
import type { Thresholds } from '../dataset/load-counts.ts';
import { loadDefaults, loaderEnvironment, neverNewer } from '../names.ts';
import { type AddressTable, dynamoDbAddressTable } from '../storage/address-table.ts';
import type { AddressWriterOptions } from '../storage/address-writer.ts';
import { Lease } from '../storage/lease.ts';
import type { Held } from '../storage/lock.ts';
import { pdokExtract } from '../storage/open.ts';
import { s3Client, s3Storage } from '../storage/s3.ts';
import type { Storage } from '../storage/storage.ts';
import { executionIsGone } from './execution-owner.ts';
import type { TableSample } from './manifest.ts';
import type { StepName } from './step-inputs.ts';

/** The configuration has checked the values; a name that it does not know is an error here too. */
const ownThresholds = z.partialRecord(z.enum(Object.keys(loadDefaults.guard)), z.number().min(0));

/** What the steps use of the Lambda context. */
export type Invocation = { getRemainingTimeInMillis(): number };

function emit(name: string, count: number, dimensions: Record<string, string> = {}): void {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'loader' });
  metrics.addDimensions(dimensions);
  metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}

/** The settings, clients and logger of one deployed step. Reads an environment variable when the step needs it. */
export class DeployedStep {
  readonly logger: Logger;
  readonly #environment: NodeJS.ProcessEnv;
  #storage: Storage | undefined;
  #addresses: AddressTable | undefined;

  constructor(step: StepName, environment: NodeJS.ProcessEnv) {
    this.logger = new Logger({ serviceName: step });
    this.#environment = environment;
  }

  /** The bucket of this deployment. */
  get storage(): Storage {
    this.#storage ??= s3Storage(s3Client(), this.#require(variables.snapshotBucket));
    return this.#storage;
  }

  /** The addresses table of this deployment. @param options of the first call count */
  addresses(options?: AddressWriterOptions): AddressTable {
    const table = this.#require(variables.addressesTable);
    this.#addresses ??= dynamoDbAddressTable(new DynamoDBClient({}), table, options);
    return this.#addresses;
  }

  /** An object of the bucket, for an ItemReader. */
  itemsAt(key: string): { bucket: string; key: string } {
    return { bucket: this.#require(variables.snapshotBucket), key };
  }

  /** A positive whole number from the environment, or `otherwise`. */
  number(name: string, otherwise: number): number {
    return z.coerce
      .number()
      .int()
      .positive()
      .parse(this.#environment[name] ?? otherwise);
  }

  /** The default thresholds, overridden by this deployment's. */
  get thresholds(): Thresholds {
    const own = ownThresholds.parse(JSON.parse(this.#environment[loaderEnvironment.thresholds] ?? '{}'));
    return { ...loadDefaults.guard, ...own } as Thresholds;
  }

  /** The extract to load when an execution names none. */
  get source(): string {
    return this.#environment[loaderEnvironment.source] ?? pdokExtract;
  }

  /** Where mutations are looked up daily; nowhere by default. */
  get mutations(): string[] {
    const location = this.#environment[loaderEnvironment.mutations];
    return location ? [location] : [];
  }

  /** Whether the execution that holds the lock can't write any more. */
  get isGone(): (held: Held) => Promise<boolean | null> {
    const isGone = executionIsGone(new SFNClient({}), this.number(loaderEnvironment.settleSeconds, 20 * 60));
    return async ({ owner }) => (await isGone(owner)) || null;
  }

  /** Allows this invocation to write under the lock of its execution until it times out. @throws LockedError */
  lease(owner: string, invocation: Invocation): Promise<Lease> {
    return Lease.ofOwner(this.addresses().lock, owner, invocation.getRemainingTimeInMillis());
  }

  /**
   * Emits the age of the live dataset in whole days; a date in the future, but for clocks and time zones, is as
   * alarming as an old one.
   */
  reportAge(days: number): void {
    emit(metricNames.datasetAge, days < -1 ? neverNewer : days);
  }

  /** Emits the deployed version, so that graphs show since when it is. */
  reportVersion(): void {
    const version = this.#environment[loaderEnvironment.version];
    if (version) emit(metricNames.deployedVersion, 1, { [versionDimension]: version });
  }

  /** Emits the number of addresses that differed between the mutations applied so far and the extract. */
  reportAudit({ added, changed, removed }: ChangeCounts): void {
    emit(metricNames.auditDifferences, added + changed + removed);
  }

  /** Emits the result of comparing the table with the live snapshot, and logs the keys that differ. */
  reportSample({ addresses, differing, damaged }: TableSample): void {
    const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'loader' });
    metrics.addMetric(metricNames.tableDifferences, MetricUnit.Count, differing.length + damaged.length);
    metrics.publishStoredMetrics();
    if (differing.length + damaged.length > 0) {
      this.logger.error('the table differs from the live snapshot', { addresses, differing, damaged });
    }
  }

  /** An environment variable that the stack always sets. */
  #require(name: string): string {
    const value = this.#environment[name];
    if (!value) throw new Error(`The environment variable ${name} is not set.`);
    return value;
  }
}
