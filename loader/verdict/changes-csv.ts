import { gzipSync } from 'node:zlib';
import type { Change } from '../addresses/lines.ts';
import { type ChangeExample, changeExample } from './load-counts.ts';

/** A stored part of the CSV of a load's changes; `bytes` of the text without its head, before it was packed. */
export type ChangesCsv = { name: string; changes: number; bytes: number };

export const changesCsvHead = 'key,before,after,nummeraanduidingen\r\n';

/** A change as CSV (RFC 4180); several places of one key are separated by ` | `. */
export function changesCsvLine({ key, before, after, nummeraanduidingen }: ChangeExample): string {
  const fields = [key, before?.join(' | ') ?? '', after?.join(' | ') ?? '', nummeraanduidingen.join(' ')];
  return `${fields.map(field).join(',')}\r\n`;
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Small enough for a page of the portal to send one or more. */
const usualBytes = 2_000_000;

/** Collects changes of addresses of a segment. */
export class ChangesCsvWriter {
  readonly files: ChangesCsv[] = [];
  readonly #segment: string;
  readonly #write: (name: string, packed: Buffer) => Promise<void>;
  #lines: string[] = [];
  #length = 0;

  constructor(segment: string, write: (name: string, packed: Buffer) => Promise<void>) {
    this.#segment = segment;
    this.#write = write;
  }

  async add(change: Change): Promise<void> {
    const line = changesCsvLine(changeExample(change));
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#length >= usualBytes) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const name = `${this.#segment}-${String(this.files.length).padStart(3, '0')}`;
    const text = Buffer.from(this.#lines.join(''));
    await this.#write(name, gzipSync(text));
    this.files.push({ name, changes: this.#lines.length, bytes: text.length });
    this.#lines = [];
    this.#length = 0;
  }
}
