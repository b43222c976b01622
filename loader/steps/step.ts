import type { ManifestEntry } from '../dataset/manifest.ts';
import type { AddressTable } from '../storage/address-table.ts';
import type { Storage } from '../storage/storage.ts';

/** What the steps that look at the table work with. */
export type Places = { storage: Storage; addresses: AddressTable };

/** What there is to do: nothing, finish a load that died while applying, load an extract, or go back to a snapshot. */
export type Found =
  | { action: 'none'; reason: string; served: ManifestEntry | null }
  | { action: 'finish' | 'load' | 'rollback'; load: string; state: string };
