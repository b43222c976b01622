/** Copies of deliveries of mutations in the storage, each what its own documents say that it is. */

import { crc32 } from 'node:zlib';
import { areaText, futureDelivery, isFuture } from '../bag/delivery-document.ts';
import type { MutationFile, SourceVersion } from '../dataset/load.ts';
import { ExtractError } from '../load-error.ts';
import { loadDefaults } from '../names.ts';
import { packLineBytes, unpackLineBytes } from '../register/stored-form.ts';
import { releaseMemory } from '../release-memory.ts';
import { openSource } from '../storage/open.ts';
import { type Source, SourceError, SourceUnavailableError } from '../storage/source.ts';
import {
  DamagedObjectError,
  findUsableJson,
  getObject,
  isDelivery,
  paths,
  putJson,
  type Storage,
} from '../storage/storage.ts';
import { bufferAccess } from '../zip/random-access.ts';
import { numKeysOf, objectKey } from './apply-mutations.ts';
import { type MutationDelivery, readMutationDelivery, scopeText } from './mutation-delivery.ts';
import { type ListedMutations, readWhole } from './mutation-lists.ts';

/** Whether the storage has a delivery, undamaged. */
export async function isDeliveryKept(storage: Storage, key: string): Promise<boolean> {
  const bytes = await storage.get(key);
  return bytes !== null && isDelivery(key, bytes);
}

const largestDelivery = 512 * 1024 * 1024;

/**
 * The delivery at a location when it was last read, `at`; any location had the same contents
 * `since` then.
 */
export type FoundDelivery = {
  file: MutationFile;
  made: number;
  version: SourceVersion;
  at: string;
  since: string;
};

/** A location that can't say whether it has changed is read again after this time: each day. */
const unaskedMilliseconds = 20 * 3_600_000;

/**
 * Copies each delivery that is what its name says; `gemeenten` are the dataset's area, empty for
 * the country.
 */
export class DeliveryCopies {
  readonly #storage: Storage;
  readonly #gemeenten: readonly string[];
  readonly #objecten: boolean;
  #found: Promise<Record<string, FoundDelivery> | null> | undefined;
  /** A server was unavailable: for the rest, earlier findings stand. */
  #isDown = false;

  constructor(
    storage: Storage,
    gemeenten: readonly string[],
    { objecten = false }: WithObjecten = {},
  ) {
    this.#storage = storage;
    this.#gemeenten = gemeenten;
    this.#objecten = objecten;
  }

  /**
   * @throws SourceError if it is unavailable, ExtractError if it is damaged, another delivery, or
   * of another area
   */
  async copy(listed: ListedMutations): Promise<FoundDelivery> {
    const { name, location, size } = listed;
    if (isFuture(listed.tot)) throw futureDelivery(listed.tot, name);
    requireArea(name, listed.gemeenten, this.#gemeenten);
    this.#found ??= findUsableJson(this.#storage, paths.mutationsFound);
    const found = (await this.#found) ?? {};
    const before = found[location];
    const isKept =
      before?.file.name === name &&
      (size === null || size === before.file.size) &&
      (await isDeliveryKept(this.#storage, before.file.key));
    if (!isKept) return this.#read(listed, await openSource(location), found);
    const isTold = tellsChanges(before.version);
    const isRecent = Date.now() - Date.parse(before.at) < unaskedMilliseconds;
    if (this.#isDown || (isRecent && !isTold)) return before;
    try {
      const source = await openSource(location, isTold ? before.version : undefined);
      return source ? await this.#read(listed, source, found) : before;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.#isDown ||= error instanceof SourceUnavailableError;
      return before;
    }
  }

  async #read(
    listed: ListedMutations,
    source: Source | null,
    found: Record<string, FoundDelivery>,
  ): Promise<FoundDelivery> {
    const { name, location, size } = listed;
    const tooLong = `${name} is too large for mutations. Load a full extract instead.`;
    const bytes = source && (await readWhole(source, largestDelivery, tooLong));
    if (!bytes) throw new SourceError(`${location} can't be read. Check the address.`);
    if (size !== null && size !== bytes.length) {
      throw new SourceError(
        `${name} has ${bytes.length} bytes, but ${size} according to the list: it is cut off, or was just replaced. Run the load again.`,
      );
    }
    const delivery = await readMutationDelivery(bufferAccess(bytes), name, {
      objecten: this.#objecten,
    });
    requireNamed(listed, delivery);
    const key = paths.mutationFile(name, crc32(bytes));
    if (!(await isDeliveryKept(this.#storage, key))) await this.#storage.put(key, bytes);
    keepRead(readKey(key, this.#objecten), delivery);
    const { vanaf, tot, hash, made } = delivery;
    const at = new Date().toISOString();
    const same = Object.values(found).filter(({ file }) => file.hash === hash);
    const since = same.reduce(
      (least, earlier) => (earlier.since < least ? earlier.since : least),
      at,
    );
    const file = { name, key, vanaf, tot, size: bytes.length, hash };
    const copy = { file, made, version: source.version, at, since };
    found[location] = copy;
    for (const [other, { file }] of Object.entries(found)) {
      if (isPastDelivery(file, tot)) delete found[other];
    }
    await putJson(this.#storage, paths.mutationsFound, found);
    return copy;
  }
}

/** Whether a location says by its version alone that it has something else. */
function tellsChanges({ etag, lastModified, size }: SourceVersion): boolean {
  return (etag !== null && !etag.startsWith('W/')) || (lastModified !== null && size !== null);
}

/**
 * Whether no extract that is older than the end of a delivery can still appear after a dataset of a
 * date.
 */
export function isPastDelivery({ tot }: { tot: string }, peildatum: string): boolean {
  return Date.parse(tot) < Date.parse(peildatum) - loadDefaults.mutationsKeptDays * 86_400_000;
}

/** Whether the changes of adresseerbare objecten are read too. */
type WithObjecten = { objecten?: boolean };

const readKey = (key: string, objecten: boolean) => (objecten ? `${key} objecten` : key);

/**
 * A delivery in memory: the objects that it names, by `objectKey`, and all of it as packed JSON.
 */
type ReadCopy = { named: string[]; packed: Buffer };

/** Parsed deliveries, so that a process parses each once. A key has the CRC-32 of the contents. */
const justRead = new Map<string, ReadCopy>();
const mostKeptRead = 62;

function keepRead(key: string, delivery: MutationDelivery): ReadCopy {
  if (justRead.size === mostKeptRead) justRead.clear();
  const keys = delivery.mutations.flatMap((mutation) => [
    objectKey(mutation),
    ...numKeysOf(mutation.was),
    ...numKeysOf(mutation.wordt),
  ]);
  const named = JSON.stringify([...new Set(keys)]);
  const bytes = Buffer.from(JSON.stringify(delivery));
  // Parsed again, as a string that was made of slices of the XML may retain them.
  const read = { named: JSON.parse(named), packed: packLineBytes(bytes) };
  releaseMemory(bytes);
  justRead.set(key, read);
  return read;
}

/**
 * The objects that a copy names, by `objectKey`, and its contents. @throws DamagedObjectError,
 * ExtractError
 */
export async function readCopy(
  storage: Storage,
  { name, key }: MutationFile,
  { objecten = false }: WithObjecten = {},
): Promise<{ named: readonly string[]; contents(): MutationDelivery }> {
  const bytes = await getObject(storage, key);
  if (!isDelivery(key, bytes)) throw new DamagedObjectError(key);
  const kept = justRead.get(readKey(key, objecten));
  const read =
    kept ??
    keepRead(
      readKey(key, objecten),
      await readMutationDelivery(bufferAccess(bytes), name, { objecten }),
    );
  const contents = () => {
    const unpacked = unpackLineBytes(read.packed);
    const text = unpacked.toString();
    releaseMemory(unpacked);
    return JSON.parse(text) as MutationDelivery;
  };
  return { named: read.named, contents };
}

/**
 * @throws ExtractError if the name of a delivery, or its entry in a list, contradicts its documents
 */
function requireNamed({ name, ...named }: ListedMutations, identity: MutationDelivery): void {
  if (scopeText(named) === scopeText(identity)) return;
  throw new ExtractError(
    'invalid_mutations',
    name,
    `is named as the delivery ${scopeText(named)}, but its documents say ${scopeText(identity)}. Nothing of it was applied: correct its name, or ask ` +
      'the supplier for the right file',
  );
}

/**
 * A delivery of the country concerns any dataset, one of a gemeente only the dataset of that.
 * @throws ExtractError
 */
function requireArea(name: string, gemeenten: readonly string[], dataset: readonly string[]): void {
  if (gemeenten.length === 0 || gemeenten.join() === dataset.join()) return;
  const problem =
    `covers ${areaText(gemeenten)}, and the dataset ${areaText(dataset)}. Only mutations of the whole country, or of exactly the same ` +
    'area, can be applied to it';
  throw new ExtractError('invalid_mutations', name, problem);
}
