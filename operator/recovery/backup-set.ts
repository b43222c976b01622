import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { CompactEncrypt, compactDecrypt, importPKCS8, importSPKI } from 'jose';
import * as z from 'zod/mini';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import { keptSnapshots, type Manifest } from '../../loader/dataset/manifest.ts';
import { parseCheckedJson } from '../../loader/dataset/stored-form.ts';
import { paths } from '../../loader/storage/storage.ts';
import type { Backup } from '../../packages/admin/accounts/backup.ts';
import { backupLines, countBackup } from './backup-lines.ts';

/** Where sets are kept: a bucket, a folder. */
export type SetStore = {
  get(key: string): Promise<Uint8Array | null>;
  put(key: string, bytes: Uint8Array): Promise<void>;
};

/** What a service can't be restored without. */
export type SetContents = {
  /** The deployment, `bag-adres-prod`, and the region it was in. */
  deployment: string;
  region: string;
  created: Date;
  backup: Backup;
  checksumSecret: string;
  /** The session secret of the portal, if there is one. */
  sessionSecret: string | null;
  /** The loader's manifest, as it is stored; `null` before the first load. */
  manifest: Uint8Array | null;
  /** Where the manifest is: `s3://BUCKET`. */
  register: string;
};

const countsSchema = z.object({
  plans: z.number(),
  accounts: z.number(),
  activeKeys: z.number(),
  members: z.number(),
});

const indexSchema = z.object({
  format: z.literal('bag-adres-backup-set'),
  version: z.literal(1),
  deployment: z.string(),
  region: z.string(),
  created: z.string(),
  counts: countsSchema,
  /** The fingerprint of the checksum secret with which keys were issued then. */
  checksumSecret: z.string(),
  snapshots: z.array(z.object({ peildatum: z.string(), location: z.string() })),
  parts: z.record(z.string(), z.object({ bytes: z.number(), sha256: z.string() })),
});

/** What a set holds, readable without its key. */
export type SetIndex = z.infer<typeof indexSchema>;

const parts = { accounts: 'accounts.jsonl.gz.jwe', secrets: 'secrets.json.jwe', manifest: 'manifest.json' } as const;
const indexName = 'set.json';
/** JSON Web Encryption (RFC 7516), which any JOSE library and this command line decrypt. */
const algorithm = 'RSA-OAEP-256';

/** A set that can't be used. The message says why. */
export class BackupSetError extends Error {
  override name = 'BackupSetError';
}

/**
 * Writes a set, encrypted to a public key of the operator (PEM, SPKI), and returns its name:
 * `bag-adres-prod/2026-11-22T02-00-00Z/`. Its index is written last: a set without one is incomplete.
 */
export async function writeBackupSet(
  store: Pick<SetStore, 'put'>,
  contents: SetContents,
  publicKey: string,
): Promise<{ name: string; index: SetIndex }> {
  const { deployment, region, created, backup, checksumSecret, sessionSecret, manifest, register } = contents;
  const name = `${deployment}/${created.toISOString().slice(0, 19).replaceAll(':', '-')}Z/`;
  const encrypt = await encryption(publicKey);
  const files: [string, Uint8Array][] = [
    [parts.accounts, await encrypt(gzipSync(backupLines(backup).join('')))],
    [parts.secrets, await encrypt(Buffer.from(JSON.stringify({ checksumSecret, sessionSecret })))],
    ...(manifest ? [[parts.manifest, manifest] as [string, Uint8Array]] : []),
  ];
  for (const [part, bytes] of files) await store.put(name + part, bytes);
  const index: SetIndex = {
    format: 'bag-adres-backup-set',
    version: 1,
    ...{ deployment, region, created: created.toISOString() },
    counts: countBackup(backup),
    checksumSecret: secretFingerprint(checksumSecret),
    snapshots: manifest ? snapshotsIn(manifest, register) : [],
    parts: Object.fromEntries(files.map(([part, bytes]) => [part, { bytes: bytes.length, sha256: sha256(bytes) }])),
  };
  await store.put(name + indexName, Buffer.from(`${JSON.stringify(index, null, 2)}\n`));
  return { name, index };
}

/** More than `snapshotsKept` can be. */
const mostSnapshots = 24;

/** Where the snapshots of the last loads are, the newest first. */
function snapshotsIn(stored: Uint8Array, register: string): SetIndex['snapshots'] {
  const manifest = parseCheckedJson<Manifest>(Buffer.from(stored), paths.manifest);
  const kept = keptSnapshots(manifest, mostSnapshots);
  return manifest.history
    .filter(({ snapshot }) => kept.has(snapshot.id))
    .map(({ peildatum, snapshot }) => ({ peildatum, location: `${register}/${paths.snapshotOf(snapshot.id)}` }));
}

async function encryption(publicKey: string): Promise<(bytes: Uint8Array) => Promise<Uint8Array>> {
  const key = await importSPKI(publicKey, algorithm).catch((cause: Error) => {
    const message =
      'The public key of the backup is no RSA key in PEM form (-----BEGIN PUBLIC KEY-----). See docs/recovery.md.';
    throw new BackupSetError(message, { cause });
  });
  return async (bytes) => {
    const sealed = new CompactEncrypt(bytes).setProtectedHeader({ alg: algorithm, enc: 'A256GCM' });
    return Buffer.from(await sealed.encrypt(key));
  };
}

/** The index of a set, after checking that every part is as it was written. @throws BackupSetError */
export async function readSetIndex(store: SetStore, name: string): Promise<SetIndex> {
  const bytes = await store.get(name + indexName);
  if (!bytes) throw new BackupSetError(`${name} has no ${indexName}: it is no backup set, or an incomplete one.`);
  const parsed = z.safeParse(indexSchema, JSON.parse(Buffer.from(bytes).toString()));
  if (!parsed.success)
    throw new BackupSetError(`${name}${indexName} is not of this format; use the version that made it.`);
  for (const [part, { sha256: expected }] of Object.entries(parsed.data.parts)) {
    const found = await store.get(name + part);
    if (!found) throw new BackupSetError(`${name}${part} is missing. Use another set.`);
    if (sha256(found) !== expected) throw new BackupSetError(`${name}${part} is damaged. Use another set.`);
  }
  return parsed.data;
}

export type OpenedSet = { index: SetIndex; accounts: string; checksumSecret: string; sessionSecret: string | null };

/** Reads and decrypts a set with the operator's private key (PEM, PKCS #8). @throws BackupSetError */
export async function openBackupSet(store: SetStore, name: string, privateKey: string): Promise<OpenedSet> {
  const index = await readSetIndex(store, name);
  const key = await importPKCS8(privateKey, algorithm).catch((cause: Error) => {
    throw new BackupSetError('The private key is no RSA key in PEM form (-----BEGIN PRIVATE KEY-----).', { cause });
  });
  const decrypt = async (part: string) => {
    const sealed = Buffer.from((await store.get(name + part)) ?? []).toString();
    const opened = await compactDecrypt(sealed, key).catch((cause: Error) => {
      throw new BackupSetError(`This private key does not open ${name}: it is not the one of the set.`, { cause });
    });
    return Buffer.from(opened.plaintext);
  };
  const secrets = JSON.parse((await decrypt(parts.secrets)).toString());
  return { index, accounts: gunzipSync(await decrypt(parts.accounts)).toString(), ...secrets };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
