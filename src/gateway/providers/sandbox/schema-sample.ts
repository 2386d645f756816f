import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { keysOfPointer } from '#shared/json/json-pointer.ts';
import { SampleBudget, UnfitSchemaError } from './sample-budget.ts';
import { sampleNumber, sampleString } from './scalar-sample.ts';

/** The depths of a value, tried in this order, so that a recursive schema gives the smallest value. */
const depths = [2, 4, 8, 16, 32];
/** The most schemas that stand within each other, alternatives included. It protects the stack. */
const maxNesting = 100;
/** The price of one schema, which may fail with an error. */
const unitsPerSchema = 100;
/** The price of a member that is copied. */
const unitsPerMember = 10;
/** The most characters of a number, of a literal, or of the punctuation around a value. */
const charactersPerValue = 24;

/** Keywords that can only be checked on a value, not used to make one, and those that examples do not need. */
const unsupported = [
  'not',
  'if',
  'contains',
  'patternProperties',
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  '$dynamicRef',
];

/**
 * Makes a value that a JSON Schema describes, with every possible property and one item in each list. The same schema
 * gives the same value.
 * @param choices how many times the answer holds the value, which counts in its budget
 * @see https://json-schema.org/draft/2020-12
 * @throws UnfitSchemaError for a schema that no value fits, that is not supported, or that demands too much
 */
export function sampleSchema(schema: Json, choices = 1): Json {
  const budget = new SampleBudget(choices);
  const sampler = new SchemaSampler(schema, budget);
  const [value, failure] = firstFitting(depths, budget, (depth) => sampler.sample(schema, depth, 0));
  if (value === undefined) throw failure;
  return value;
}

class SchemaSampler {
  readonly #root: Json;
  readonly #budget: SampleBudget;
  #nesting = 0;

  constructor(root: Json, budget: SampleBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  /** @param variant differs between the items of a list */
  sample(schema: Json | undefined, depth: number, variant: number): Json {
    return this.#nested(() => {
      this.#budget.spendOnResult(charactersPerValue);
      if (schema === undefined || schema === true) return sampleString({}, variant, this.#budget);
      if (!isObject(schema)) throw new UnfitSchemaError('No value fits the schema false.');
      return this.#describedBy(this.#resolved(schema), depth, variant);
    });
  }

  #nested<Made>(make: () => Made): Made {
    this.#budget.spend(unitsPerSchema);
    if (this.#nesting === maxNesting)
      throw new UnfitSchemaError('The schema refers to itself, or is nested too deeply.');
    this.#nesting += 1;
    try {
      return make();
    } finally {
      this.#nesting -= 1;
    }
  }

  /** The schema, merged with its references and all parts of `allOf`. */
  #resolved(schema: JsonObject): JsonObject {
    if (typeof schema.$ref !== 'string' && !Array.isArray(schema.allOf)) return schema;
    return this.#nested(() => {
      this.#budget.spend(Object.keys(schema).length * unitsPerMember);
      const { $ref, allOf, ...rest } = schema;
      const parts = typeof $ref === 'string' ? [this.#at($ref)] : [];
      if (Array.isArray(allOf)) parts.push(...allOf.filter(isObject));
      return parts.reduce<JsonObject>((all, part) => this.#merged(all, this.#resolved(part)), rest);
    });
  }

  #at(reference: string): JsonObject {
    this.#budget.spend(reference.length);
    if (!reference.startsWith('#')) throw new UnfitSchemaError(`The reference ${reference} leads out of the schema.`);
    let place: Json | undefined = this.#root;
    for (const key of keysOfReference(reference)) {
      if (Array.isArray(place)) place = place[Number(key)];
      else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    if (!isObject(place)) throw new UnfitSchemaError(`The reference ${reference} leads nowhere.`);
    return place;
  }

  /** Merges two schemas so that both hold. Most keywords occur in only one of them. */
  #merged(one: JsonObject, other: JsonObject): JsonObject {
    for (const schema of [one, other]) this.#budget.spend(membersOf(schema) * unitsPerMember);
    const properties =
      isObject(one.properties) && isObject(other.properties) ? { ...one.properties, ...other.properties } : null;
    const required =
      Array.isArray(one.required) && Array.isArray(other.required) ? [...one.required, ...other.required] : null;
    return {
      ...one,
      ...other,
      ...(properties === null ? {} : { properties }),
      ...(required === null ? {} : { required }),
    };
  }

  #describedBy(schema: JsonObject, depth: number, variant: number): Json {
    const keyword = unsupported.find((name) => schema[name] !== undefined);
    if (keyword !== undefined) throw new UnfitSchemaError(`The sandbox does not know the keyword ${keyword}.`);
    if (schema.const !== undefined) return this.#given(schema.const);
    if (Array.isArray(schema.enum)) return this.#given(schema.enum[variant % schema.enum.length]);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(alternatives)) return this.#firstOf(schema, alternatives, depth, variant);
    return this.#ofType(schema, depth, variant);
  }

  /** A value that the schema itself holds. */
  #given(value: Json | undefined): Json {
    if (value === undefined) throw new UnfitSchemaError('An enum must hold a value.');
    this.#payFor(value);
    return value;
  }

  #payFor(value: Json): void {
    this.#nested(() => {
      this.#budget.spendOnResult(typeof value === 'string' ? value.length : charactersPerValue);
      if (typeof value !== 'object' || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        this.#budget.spendOnResult(name.length);
        if (member !== undefined) this.#payFor(member);
      }
    });
  }

  #firstOf(schema: JsonObject, alternatives: ReadonlyArray<Json>, depth: number, variant: number): Json {
    this.#budget.spend(Object.keys(schema).length * unitsPerMember);
    const { anyOf: _, oneOf: __, ...common } = schema;
    const [value, failure] = firstFitting(alternatives, this.#budget, (alternative) =>
      this.sample(isObject(alternative) ? this.#merged(common, alternative) : alternative, depth, variant),
    );
    if (value === undefined) throw failure;
    return value;
  }

  #ofType(schema: JsonObject, depth: number, variant: number): Json {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth - 1);
      case 'array':
        return this.#array(schema, depth - 1);
      case 'string':
        return sampleString(schema, variant, this.#budget);
      case 'integer':
        return sampleNumber(schema, true, variant, this.#budget);
      case 'number':
        return sampleNumber(schema, false, variant, this.#budget);
      case 'boolean':
        return variant % 2 === 0;
      case 'null':
        return null;
      default:
        throw new UnfitSchemaError('The schema has an unknown type.');
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    if (depth < 0) throw tooDeep();
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const made: [string, Json][] = [];
    for (const name of new Set([...Object.keys(properties), ...required])) {
      if (typeof name !== 'string') continue;
      this.#budget.spendOnResult(name.length);
      const of = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const value = this.#sampleOrNothing(of, depth, required.has(name), 0);
      if (value !== undefined) made.push([name, value]);
    }
    return Object.fromEntries(made);
  }

  #array(schema: JsonObject, depth: number): ReadonlyArray<Json> {
    if (depth < 0) throw tooDeep();
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const wanted = Math.min(Number(maxItems), Math.max(Number(minItems), first.length, 1));
    const leftBefore = this.#budget.left;
    const items: Json[] = [];
    for (let index = 0; index < wanted; index += 1) {
      const of = index < first.length ? first[index] : schema.items;
      const item = this.#sampleOrNothing(of, depth, index < Number(minItems), index);
      if (item === undefined) break;
      items.push(item);
    }
    if (schema.uniqueItems !== true) return items;
    // Comparing the items costs at most what they cost.
    this.#budget.spend(leftBefore - this.#budget.left);
    if (new Set(items.map((item) => JSON.stringify(item))).size < items.length)
      throw new UnfitSchemaError('The sandbox does not make that many different items.');
    return items;
  }

  /** A value, or undefined if an optional one does not fit. */
  #sampleOrNothing(of: Json | undefined, depth: number, isRequired: boolean, variant: number): Json | undefined {
    const [value, failure] = firstFitting([of], this.#budget, (schema) => this.sample(schema, depth, variant));
    if (value === undefined && isRequired) throw failure;
    return value;
  }
}

/**
 * Makes the first value that fits, or returns why the last one does not.
 * @throws UnfitSchemaError if the budget is spent
 */
function firstFitting<Way>(
  ways: ReadonlyArray<Way>,
  budget: SampleBudget,
  make: (way: Way) => Json,
): readonly [Json | undefined, UnfitSchemaError | null] {
  let failure: UnfitSchemaError | null = null;
  for (const way of ways) {
    try {
      return [make(way), null];
    } catch (error) {
      if (!(error instanceof UnfitSchemaError) || budget.isSpent) throw error;
      failure = error;
    }
  }
  return [undefined, failure ?? new UnfitSchemaError('No alternative of the schema fits.')];
}

/** The number of members that a merge copies. */
function membersOf(schema: JsonObject): number {
  const { properties, required } = schema;
  const names = isObject(properties) ? Object.keys(properties).length : 0;
  return Object.keys(schema).length + names + (Array.isArray(required) ? required.length : 0);
}

function keysOfReference(reference: string): ReadonlyArray<string> {
  try {
    return keysOfPointer(decodeURIComponent(reference.slice(1)));
  } catch {
    throw new UnfitSchemaError(`The reference ${reference} cannot be read.`);
  }
}

function tooDeep(): UnfitSchemaError {
  return new UnfitSchemaError(`The schema demands a value of more than ${depths.at(-1)} levels.`);
}

function typeOf(schema: JsonObject): Json {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((each) => each !== 'null') ?? type[0] ?? null;
  if (type !== undefined) return type;
  if (schema.properties !== undefined || schema.required !== undefined) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  return schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined
    ? 'number'
    : 'string';
}
