/** A schema of the OpenAPI document, as far as a reader needs it. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  description?: string;
};

/** A member of an answer, or of a body that is sent. */
export type BodyMember = {
  name: string;
  /** As in TypeScript: `string | null`. */
  type: string;
  isOptional: boolean;
  /** Each text holds for the outcomes or problems in `only`, or for all if that is empty. */
  meanings: { key: string; text: string; only: string[] }[];
  /** The members of the object, or of each object in the list. */
  members: BodyMember[];
};

/** An object that a value may be, with its name in the document. */
type Variant = { name: string; schema: Schema };

/** The most values that a type lists: more have a table of their own. */
const mostValues = 6;

/** The members of the objects that a document names, and of those within them. */
export class BodyMembers {
  readonly #schemas: Readonly<Record<string, Schema>>;

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  /** The members of every object that a value of one of the schemas may be, each once. */
  of(schemas: readonly Schema[]): BodyMember[] {
    const found = schemas.flatMap((schema) => this.#variants(schema));
    const variants = [...new Map(found.map((variant) => [variant.name, variant])).values()];
    const names = new Set(variants.flatMap(({ schema }) => Object.keys(schema.properties ?? {})));
    return [...names].map((name) => this.#member(name, variants));
  }

  #member(name: string, variants: Variant[]): BodyMember {
    const having = variants.filter(({ schema }) => schema.properties?.[name]);
    const parts = having.map(({ schema }) => schema.properties?.[name] as Schema);
    const isOptional = !variants.every(({ schema }) => schema.required?.includes(name));
    return {
      name,
      type: this.#typeOf(parts),
      isOptional,
      meanings: this.#meanings(name, variants, having),
      members: this.of(parts),
    };
  }

  #meanings(name: string, variants: Variant[], having: Variant[]): BodyMember['meanings'] {
    const byText = Map.groupBy(having, (variant) => this.#meaning(name, variant)?.text);
    return [...byText].flatMap(([text, sharing]) => {
      const meaning = text && sharing[0] && this.#meaning(name, sharing[0]);
      if (!meaning) return [];
      const labels = sharing.flatMap(({ schema }) => labelOf(schema) ?? []);
      const only = sharing.length === variants.length ? [] : [...new Set(labels)];
      return [{ ...meaning, only }];
    });
  }

  /** The text on a member, or else on the object that it is. */
  #meaning(name: string, variant: Variant): { key: string; text: string } | undefined {
    const schema = variant.schema.properties?.[name];
    if (!schema || (schema.enum ?? []).length > mostValues) return undefined;
    if (schema.description) return { key: `${variant.name}.${name}`, text: schema.description };
    const target = schema.$ref === undefined ? undefined : this.#named(schema.$ref);
    return target?.schema.description
      ? { key: target.name, text: target.schema.description }
      : undefined;
  }

  /** The objects that a value may be, also as an item of a list. */
  #variants(schema: Schema): Variant[] {
    if (schema.$ref) {
      const target = this.#named(schema.$ref);
      return target.schema.properties ? [target] : this.#variants(target.schema);
    }
    const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    return [...parts, ...(schema.items ? [schema.items] : [])].flatMap((part) =>
      this.#variants(part),
    );
  }

  #typeOf(schemas: readonly Schema[]): string {
    const all = [...new Set(schemas.flatMap((schema) => this.#types(schema, true)))];
    const isShort = all.length <= mostValues;
    const types = isShort ? all : schemas.flatMap((schema) => this.#types(schema, false));
    const some = [...new Set(types)].filter((type) => type !== 'null');
    const none = types.includes('null') ? ['null'] : [];
    return [...some, ...none].join(' | ');
  }

  #types(schema: Schema, areValuesListed: boolean): string[] {
    if (schema.$ref) return this.#types(this.#named(schema.$ref).schema, areValuesListed);
    const values = schema.enum ?? [];
    if (areValuesListed && values.length > 0 && values.length <= mostValues) {
      return values.map((value) => JSON.stringify(value));
    }
    if (schema.items) {
      const item = this.#typeOf([schema.items]);
      return [item.includes(' ') ? `(${item})[]` : `${item}[]`];
    }
    const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    if (parts.length > 0) return parts.flatMap((part) => this.#types(part, areValuesListed));
    return [schema.type ?? []].flat();
  }

  #named($ref: string): Variant {
    const name = $ref.split('/').at(-1) ?? '';
    const schema = this.#schemas[name];
    if (!schema) throw new Error(`the OpenAPI document has no schema ${name}`);
    return { name, schema };
  }
}

/** The constant that distinguishes an outcome or a problem: its `status`, or its `type`. */
function labelOf({ properties = {} }: Schema): string | undefined {
  const constant = Object.values(properties).find((schema) => schema.const !== undefined);
  return constant && String(constant.const);
}
