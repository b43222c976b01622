import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../judge.ts';
import { type Chapters, stepsOf } from './steps.ts';
import type { Shown } from './terminal.ts';

/** The chapters that a reader takes, or only those of their commands that a pattern fits. */
export type Reading = Chapters & { only?: RegExp };

/** A placeholder of a page, and what a reader puts there, given all that was printed until now. */
export type Placeholder = readonly [placeholder: RegExp, value: (printed: string) => string];

/** What a reader has: a terminal, values for placeholders, and a file for settings. */
export type Equipment = {
  run(shell: string): Promise<Shown>;
  placeholders: readonly Placeholder[];
  configure?(settings: string): void;
};

/** Takes the steps of pages in their order, and notes each that fails. */
export class Reader {
  readonly findings: string[] = [];
  taken = 0;
  leftOut = 0;
  #printed = '';
  readonly #equipment: Equipment;

  constructor(equipment: Equipment) {
    this.#equipment = equipment;
  }

  async read({ only = /./, ...chapters }: Reading): Promise<void> {
    const text = readFileSync(join(root, chapters.page), 'utf8');
    for (const { where, shell, isSettings, leftOut } of stepsOf(chapters, text)) {
      this.leftOut += leftOut;
      if (shell === '') continue;
      if (isSettings) this.#equipment.configure?.(shell);
      else if (only.test(shell)) await this.#take(where, this.#filledIn(shell));
    }
  }

  async #take(where: string, shell: string): Promise<void> {
    this.taken++;
    const { code, text } = await this.#equipment
      .run(shell)
      .catch((error) => ({ code: -1, text: String(error) }));
    this.#printed += text;
    if (code === 0) return;
    const end = text.trim().slice(-1_500).replaceAll('\n', '\n    ');
    this.findings.push(`${where}: ${shell.trim()}\n    ended with ${code}: ${end}`);
  }

  #filledIn(shell: string): string {
    return this.#equipment.placeholders.reduce(
      (filled, [placeholder, value]) => filled.replace(placeholder, () => value(this.#printed)),
      shell,
    );
  }
}
