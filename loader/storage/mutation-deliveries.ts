/** Copies of deliveries of mutations in the storage, each what its own documents say that it is. */

import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { areaText, futureDelivery, isFuture } from '../bag/delivery-document.ts';
import { type MutationDelivery, readMutationDelivery, saidOf } from '../bag/mutation-delivery.ts';
import { numKeysOf } from '../dataset/adres-objects.ts';
import { objectKey } from '../dataset/apply-mutations.ts';
import type { MutationFile } from '../dataset/load.ts';
import { packLineBytes, unpackLineBytes } from '../dataset/stored-form.ts';
import { ExtractError } from '../extract-error.ts';
import { releaseMemory } from '../release-memory.ts';
import { bufferAccess } from '../zip/random-access.ts';
import { type ListedMutations, readWhole } from './mutation-lists.ts';
import { SourceError } from './source.ts';
import { DamagedObjectError, getObject, isDelivery, paths, type Storage } from './storage.ts';

/** Whether the storage has a delivery, undamaged. */
export async function isDeliveryKept(storage: Storage, key: string): Promise<boolean> {
  const bytes = await storage.get(key);
  return bytes !== null && isDelivery(key, bytes);
}

const largestDelivery = 512 * 1024 * 1024;

/**
 * Copies a delivery to the storage, if it is complete and what its name says. A corrected delivery gets another key
 * than the first one. @param gemeenten what the dataset covers, which the delivery must cover too; none for the whole
 * country
 * @throws SourceError where it is unavailable, ExtractError where it is damaged, another one, or of another area
 */
export async function copyDelivery(
  storage: Storage,
  listed: ListedMutations,
  gemeenten: readonly string[],
  { objecten = false }: WithObjecten = {},
): Promise<MutationFile> {
  const { name, location, size } = listed;
  if (isFuture(listed.tot)) throw futureDelivery(listed.tot, name);
  requireArea(name, listed.gemeente === null ? [] : [listed.gemeente], gemeenten);
  const tooLong = `${name} is too large for mutations. Load a full extract instead.`;
  const bytes = await readWhole(location, largestDelivery, tooLong);
  if (!bytes) throw new SourceError(`${location} can't be read. Check the address.`);
  if (size !== null && size !== bytes.length) {
    throw new SourceError(
      `${name} has ${bytes.length} bytes, but ${size} according to the list: it is cut off, or was just replaced. Run the load again.`,
    );
  }
  const delivery = await readMutationDelivery(bufferAccess(bytes), name, { objecten });
  requireNamed(listed, delivery);
  const key = paths.mutationFile(name, crc32(bytes));
  if (!(await isDeliveryKept(storage, key))) await storage.put(key, bytes);
  keepRead(readKey(key, objecten), delivery);
  return { name, key, vanaf: delivery.vanaf, tot: delivery.tot, size: bytes.length, hash: delivery.hash };
}

/** Whether the changes of adresseerbare objecten are read too. */
type WithObjecten = { objecten?: boolean };

const readKey = (key: string, objecten: boolean) => (objecten ? `${key} objecten` : key);

/**
 * What is kept of a delivery: the objects that it names and those that they name as addresses, by `objectKey`, and all
 * of it as packed JSON.
 */
type ReadCopy = { named: string[]; packed: Buffer };

/** What was read of deliveries, so that a process parses each once. A key has the CRC-32 of the contents. */
const justRead = new Map<string, ReadCopy>();
const mostKeptRead = 62;

function keepRead(key: string, delivery: MutationDelivery): ReadCopy {
  if (justRead.size === mostKeptRead) justRead.clear();
  const keys = delivery.mutations.flatMap((one) => [objectKey(one), ...numKeysOf(one.was), ...numKeysOf(one.wordt)]);
  const named = JSON.stringify([...new Set(keys)]);
  const bytes = Buffer.from(JSON.stringify(delivery));
  // Parsed again, as a string that was made of slices of the XML may retain them.
  const read = { named: JSON.parse(named), packed: packLineBytes(bytes) };
  releaseMemory(bytes);
  justRead.set(key, read);
  return read;
}

/** The objects that a copy names, by `objectKey`, and its contents. @throws DamagedObjectError, ExtractError */
export async function readCopy(
  storage: Storage,
  { name, key }: MutationFile,
  { objecten = false }: WithObjecten = {},
): Promise<{ named: readonly string[]; contents(): MutationDelivery }> {
  const bytes = await getObject(storage, key);
  if (!isDelivery(key, bytes)) throw new DamagedObjectError(key);
  const kept = justRead.get(readKey(key, objecten));
  const read =
    kept ?? keepRead(readKey(key, objecten), await readMutationDelivery(bufferAccess(bytes), name, { objecten }));
  const contents = () => {
    const unpacked = unpackLineBytes(read.packed);
    const text = unpacked.toString();
    releaseMemory(unpacked);
    return JSON.parse(text) as MutationDelivery;
  };
  return { named: read.named, contents };
}

/** @throws ExtractError where the name of a delivery, or its entry in a list, says something else than its documents */
function requireNamed(
  { name, vanaf, tot, gemeente }: ListedMutations,
  identity: { vanaf: string; tot: string; gemeenten: string[]; hash: string },
): void {
  const isSame =
    identity.vanaf === vanaf &&
    identity.tot === tot &&
    identity.gemeenten.join() === (gemeente === null ? '' : gemeente);
  if (isSame) return;
  const named = saidOf({ vanaf, tot, gemeenten: gemeente === null ? [] : [gemeente] });
  throw new ExtractError(
    'invalid_mutations',
    name,
    `is named as the delivery ${named}, but its documents say ${saidOf(identity)}. Nothing of it was applied: correct its name, or ask ` +
      'the supplier for the right file',
  );
}

/**
 * A delivery of the whole country concerns any dataset, of which it changes its part; one of a gemeente only the
 * dataset of that.
 * @throws ExtractError
 */
function requireArea(name: string, gemeenten: readonly string[], dataset: readonly string[]): void {
  if (gemeenten.length === 0 || gemeenten.join() === dataset.join()) return;
  const problem =
    `covers ${areaText(gemeenten)}, and the dataset ${areaText(dataset)}. Only mutations of the whole country, or of exactly the same ` +
    'area, can be applied to it';
  throw new ExtractError('invalid_mutations', name, problem);
}

/** Whether a listed delivery is the very one that was applied, as far as can be told without downloading it. */
export async function isSameDelivery({ location, size }: ListedMutations, applied: MutationFile): Promise<boolean> {
  if (/^(https?|s3):\/\//i.test(location)) return size === null || size === applied.size;
  const bytes = await readFile(location).catch(() => null);
  return bytes === null || isDelivery(applied.key, bytes);
}
