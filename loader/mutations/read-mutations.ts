/** The changes that an XML file of mutations describes. */

import { isObjectenKind, kindOfElement, type StandKind } from '../bag/elements.ts';
import {
  addField,
  type Fields,
  type Occurrence,
  occurrenceOf,
  spanOf,
  toVoorkomen,
} from '../bag/interpret-stand.ts';
import { isProblem, type Problem } from '../bag/problem-report.ts';
import { mutationDocument, SchemaParser } from '../bag/schema.ts';
import type { AnyVoorkomen } from '../bag/voorkomen.ts';
import { xsdDate } from '../bag/xsd-values.ts';
import { ExtractError } from '../load-error.ts';

/**
 * `was` is `null` for a new object, and either side is `null` if it never counts. `isNew` tells the
 * two apart.
 */
export type Mutation = {
  kind: StandKind;
  identificatie: string;
  volgnummer: number;
  isNew: boolean;
  was: AnyVoorkomen | null;
  wordt: AnyVoorkomen | null;
};

/**
 * The contents of an XML file of mutations in its order. Its strings may be slices of the XML: copy
 * those you keep.
 */
export type MutationXml = {
  vanaf: string;
  tot: string;
  /** The codes of the gemeenten that its header names, in order; none for the whole country. */
  gemeenten: string[];
  mutations: Mutation[];
  /** Occurrences with a value that the register's rules forbid; they are left out. */
  problems: Problem[];
};

const groupEnd = '</ml:mutatieGroep>';
const chunkBytes = 128 * 1024;
const changes = ['ml:toevoeging', 'ml:wijziging', 'ml:verwijdering'];
/**
 * How a group begins whose object is not part of an address: a pand, or also an adresseerbaar
 * object.
 */
const groupOf = (elements: string) =>
  new RegExp(
    `^<ml:mutatieGroep><ml:(?:toevoeging><ml:wordt|wijziging><ml:was)><mlm:bagObject><Objecten:(?:${elements})>$`,
  );
const otherGroup = groupOf('Verblijfsobject|Pand|Ligplaats|Standplaats');
const pandGroup = groupOf('Pand');
const longestOtherStart = 140;
const prefixes = ['ml', 'mlm', 'Objecten', 'Objecten-ref', 'Historie'] as const;

/**
 * Reads one XML file of mutations. Most of it is the geometry of buildings, which is skipped as
 * bytes if it is written exactly as Kadaster writes it. The strict parser reads the rest, and with
 * `strictly` the whole file. Adresseerbare objecten are read only with `objecten`.
 * @throws ExtractError for anything but well-formed XML in the known schema, for a removed
 * occurrence (verwijdering), and for a group with more than one object
 */
export function readMutations(
  xml: Buffer,
  file: string,
  { strictly = false, objecten = false } = {},
): MutationXml {
  try {
    return read(xml, file, strictly, objecten);
  } catch (error) {
    // The strict parser has not seen the whole file: it decides, and its error is the first one, of
    // the right line.
    if (!strictly && error instanceof ExtractError) return read(xml, file, true, objecten);
    throw error;
  }
}

function read(xml: Buffer, file: string, strictly: boolean, objecten: boolean): MutationXml {
  const collected = new MutationCollector(file, objecten);
  const other = objecten ? pandGroup : otherGroup;
  const { parser } = collected;
  let unread = 0;
  while (unread < xml.length) {
    const end = strictly ? -1 : xml.indexOf(groupEnd, unread, 'latin1');
    const next = end < 0 ? Math.min(xml.length, unread + chunkBytes) : end + groupEnd.length;
    const bytes = xml.subarray(unread, next);
    if (end < 0 || !isBetweenGroups(parser) || !isOther(bytes, other)) parser.write(bytes);
    unread = next;
  }
  return collected.end();
}

/** A group may be skipped only there: elsewhere the same bytes could have another meaning. */
function isBetweenGroups(parser: SchemaParser): boolean {
  return parser.justClosed === 'ml:mutatieGroep' && parser.hasUsualPrefixes(prefixes);
}

function isOther(group: Buffer, other: RegExp): boolean {
  const start = group.toString('latin1', 0, longestOtherStart);
  const named = start.indexOf('>', start.indexOf('<Objecten:'));
  return other.test(start.slice(0, named + 1)) && !group.includes('<!');
}

class MutationCollector {
  readonly parser: SchemaParser;
  readonly #file: string;
  readonly #mutations: Mutation[] = [];
  readonly #problems: Problem[] = [];
  readonly #dates: Partial<Record<string, string>> = {};
  readonly #gemeenten: string[] = [];
  #object: { kind: StandKind; identificatie: string } | undefined;
  #kind: StandKind | undefined;
  #fields: Fields = {};
  #was: Occurrence | undefined;

  constructor(file: string, objecten: boolean) {
    this.#file = file;
    const readKind = (element: string) => {
      const kind = kindOfElement[element];
      return kind && (objecten || !isObjectenKind(kind)) ? kind : undefined;
    };
    this.parser = new SchemaParser(mutationDocument(objecten), file, {
      onOpen: (name) => this.#onOpen(name, readKind(name)),
      onText: (name, text, parent) => this.#onText(name, text, parent),
      onClose: (name) => this.#onClose(name),
    });
  }

  end(): MutationXml {
    this.parser.close();
    const {
      MutatiedatumVanaf: vanaf = '',
      MutatiedatumTot: tot = '',
      StandTechnischeDatum: stand = '',
    } = this.#dates;
    for (const date of [vanaf, tot, stand]) {
      if (xsdDate(date) === null) {
        throw this.#refused(`has no valid dates (from and to): '${date}'`);
      }
    }
    if (tot !== stand || vanaf >= tot) {
      throw this.#refused(
        `contradicts itself: it covers ${vanaf} to ${tot}, and its StandTechnischeDatum is ${stand}`,
      );
    }
    return {
      vanaf,
      tot,
      gemeenten: this.#gemeenten.sort(),
      mutations: this.#mutations,
      problems: this.#problems,
    };
  }

  #onOpen(name: string, kind: StandKind | undefined): void {
    if (name === 'ml:mutatieGroep') this.#object = undefined;
    else if (changes.includes(name)) {
      this.#was = undefined;
      this.#fields = {};
    } else if (kind) {
      if (this.#kind) throw this.parser.invalid('two objects on one side of a change');
      this.#kind = kind;
      this.#fields = {};
    }
  }

  #onText(name: string, text: string, parent: string): void {
    const local = name.slice(name.indexOf(':') + 1);
    if (local === 'GemeenteIdentificatie') this.#gemeenten.push(text.trim());
    else if (name.startsWith('selecties-extract:')) {
      this.#dates[local] = xsdDate(text) ?? text.trim();
    } else if (!addField(this.#fields, name, text, parent)) {
      throw this.parser.invalid(`a second ${name} in one object`);
    }
  }

  #onClose(name: string): void {
    if (name === 'ml:verwijdering') throw this.#removed();
    const isChange = changes.includes(name);
    if (this.#kind && (isChange || name === 'ml:was')) {
      const occurrence = occurrenceOf(this.#kind, this.#fields, (problem) =>
        this.parser.invalid(problem),
      );
      if (!isChange) this.#was = occurrence;
      else if (name === 'ml:wijziging' && !this.#was) {
        throw this.parser.invalid('a change without its old state');
      } else {
        this.#add(this.#kind, this.#was, occurrence);
      }
      this.#kind = undefined;
    } else if (isChange && this.#was) throw this.parser.invalid('a change without its new state');
  }

  #add(kind: StandKind, was: Occurrence | undefined, wordt: Occurrence): void {
    const file = this.#file;
    const { identificatie } = wordt;
    this.#object ??= { kind, identificatie };
    if (this.#object.kind !== kind || this.#object.identificatie !== identificatie) {
      throw this.#refused(
        `one group changes two objects, ${this.#object.identificatie} and ${identificatie}`,
      );
    }
    const volgnummer = spanOf(wordt, file).volgnummer;
    if (
      was &&
      (was.identificatie !== identificatie || spanOf(was, file).volgnummer !== volgnummer)
    ) {
      throw this.#refused(
        `a change of object ${identificatie} turns one occurrence into another one`,
      );
    }
    const sides = {
      was: was ? this.#voorkomen(kind, was, false) : null,
      wordt: this.#voorkomen(kind, wordt, true),
    };
    this.#mutations.push({ kind, identificatie, volgnummer, isNew: was === undefined, ...sides });
  }

  #voorkomen(kind: StandKind, fields: Occurrence, isReported: boolean): AnyVoorkomen | null {
    const found = toVoorkomen(kind, fields, this.#file);
    if (found === null || !isProblem(found)) return found;
    if (isReported) this.#problems.push(found);
    return null;
  }

  #removed(): ExtractError {
    const object = this.#fields.identificatie ?? 'of another kind';
    return this.#refused(
      `removes an occurrence of object ${object} (verwijdering), which BAG 2.0 does not do. ` +
        'Nothing was changed. Load the next full extract, or ask the supplier for a corrected file',
    );
  }

  #refused(problem: string): ExtractError {
    return new ExtractError('invalid_mutations', this.#file, problem);
  }
}
