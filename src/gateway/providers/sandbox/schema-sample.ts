import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { keysOfPointer } from '#shared/json/json-pointer.ts';
import { numberOr, sampleNumber, sampleString } from './scalar-sample.ts';

/** Depths of schemas within each other, tried in this order, so that a recursive schema gives a small value. */
const depths = [2, 4, 8, 16, 32, 64];
/** The bound of the work for all depths (about 30 ms) and of the characters in all choices. */
const maxUnits = 250_000;
/** The cost of a step, which may fail with an error. */
const unitsPerStep = 100;
const unitsPerMember = 10;
const charactersPerValue = 24;

/** Keywords that can only be checked on a value, not used to make one. */
const unsupported = [
  'not',
  'if',
  'contains',
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'dependentSchemas',
  '$dynamicRef',
];

/** The message says why, for the client. */
export class UnfitSchemaError extends Error {
  override readonly name = 'UnfitSchemaError';
}

/**
 * Makes a value for a JSON Schema as SDKs write it: one that the schema gives (`const`, `enum`, `default`, `examples`),
 * else a small one of its type. The same schema gives the same value.
 * @param choices how many times the answer holds the value
 * @throws UnfitSchemaError for a schema that it makes no value for, or that demands too much
 */
export function sampleSchema(schema: Json, choices = 1): Json {
  const sampler = new SchemaSampler(schema, choices);
  return sampler.firstFitting(depths, (depth) => sampler.sample(schema, depth, 0));
}

class SchemaSampler {
  readonly #root: Json;
  readonly #choices: number;
  #unitsLeft = maxUnits;

  constructor(root: Json, choices: number) {
    this.#root = root;
    this.#choices = choices;
  }

  /** @throws UnfitSchemaError if no way fits, or if one demands too much */
  firstFitting<Way, Made>(ways: ReadonlyArray<Way>, make: (way: Way) => Made): Made {
    let failure = new UnfitSchemaError('The schema has no alternative.');
    for (const way of ways) {
      try {
        return make(way);
      } catch (error) {
        if (!(error instanceof UnfitSchemaError) || this.#unitsLeft < 0) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** @param variant differs between the items of a list that must be unique */
  sample(described: Json | undefined, depth: number, variant: number): Json {
    this.#pay(charactersPerValue);
    const schema = described === undefined || described === true ? {} : described;
    if (!isObject(schema)) throw new UnfitSchemaError('No value fits the schema false.');
    const whole = this.#withReferences(schema, depth);
    const given = givenValue(whole, variant);
    if (given !== undefined) {
      this.#pay(JSON.stringify(given).length);
      return given;
    }
    const keyword = unsupported.find((name) => whole[name] !== undefined);
    if (keyword !== undefined) throw new UnfitSchemaError(`The sandbox does not know the keyword ${keyword}.`);
    const { anyOf, oneOf, ...common } = whole;
    const alternatives = anyOf ?? oneOf;
    if (!Array.isArray(alternatives))
      return this.firstFitting(typesOf(whole), (type) => this.#ofType(type, whole, depth - 1, variant));
    return this.firstFitting(alternatives, (alternative: Json) =>
      this.sample(isObject(alternative) ? this.#merged(common, alternative) : alternative, depth - 1, variant),
    );
  }

  /** Pays before the work is done, so that a small schema demands neither long work nor a huge answer. */
  #pay(characters: number, work = unitsPerStep): void {
    this.#unitsLeft -= work + Math.max(0, characters) * this.#choices;
    if (this.#unitsLeft < 0) throw new UnfitSchemaError('The schema demands more values than the sandbox makes.');
  }

  /** The schema merged with its reference and all parts of `allOf`. */
  #withReferences(schema: JsonObject, depth: number): JsonObject {
    if (depth < 0) throw new UnfitSchemaError('The schema refers to itself, or is nested too deeply.');
    this.#pay(0, sizeOf(schema) * unitsPerMember);
    const { $ref, allOf, ...rest } = schema;
    const parts = typeof $ref === 'string' ? [this.#at($ref)] : [];
    if (Array.isArray(allOf)) parts.push(...allOf.filter(isObject));
    return parts.reduce<JsonObject>((whole, part) => this.#merged(this.#withReferences(part, depth - 1), whole), rest);
  }

  #at(reference: string): JsonObject {
    this.#pay(reference.length);
    let place: Json | undefined = reference.startsWith('#') ? this.#root : undefined;
    for (const key of keysOfReference(reference)) {
      if (Array.isArray(place)) place = place[Number(key)];
      else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    if (!isObject(place)) throw new UnfitSchemaError(`The reference ${reference} leads to no schema.`);
    return place;
  }

  /** Merges two schemas. A keyword of both is the second one's, so what the first says there may not hold. */
  #merged(one: JsonObject, other: JsonObject): JsonObject {
    this.#pay(0, (sizeOf(one) + sizeOf(other)) * unitsPerMember);
    const properties = { ...propertiesOf(one), ...propertiesOf(other) };
    return { ...one, ...other, properties, required: [...requiredOf(one), ...requiredOf(other)] };
  }

  #ofType(type: Json, schema: JsonObject, depth: number, variant: number): Json {
    this.#pay(0);
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        this.#pay(numberOr(schema.minLength, 0));
        return sampleString(schema, variant) ?? noSample('text of this pattern, format and length');
      case 'integer':
        return sampleNumber(schema, true, variant) ?? noSample('number within these bounds');
      case 'number':
        return sampleNumber(schema, false, variant) ?? noSample('number within these bounds');
      case 'boolean':
        return variant % 2 === 0;
      case 'null':
        return null;
      default:
        return noSample('value of this type');
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const properties = propertiesOf(schema);
    const required = new Set(requiredOf(schema));
    const made: [string, Json][] = [];
    for (const name of new Set([...required, ...Object.keys(properties)])) {
      this.#pay(name.length);
      const of = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const value = this.#sampleOrNothing(of, depth, required.has(name), 0);
      if (value !== undefined) made.push([name, value]);
    }
    return Object.fromEntries(made);
  }

  /** An array with one item if it can be made, or as many as the schema demands. */
  #array(schema: JsonObject, depth: number): ReadonlyArray<Json> {
    const { items, prefixItems, uniqueItems } = schema;
    const first = [prefixItems, items].find(Array.isArray) ?? [];
    const minItems = numberOr(schema.minItems, 0);
    const wanted = Math.min(numberOr(schema.maxItems, Infinity), Math.max(minItems, first.length, 1));
    const made: Json[] = [];
    for (let index = 0; index < wanted; index += 1) {
      const of = index < first.length ? first[index] : items;
      const item = this.#sampleOrNothing(of, depth, index < minItems, uniqueItems === true ? index : 0);
      if (item === undefined) break;
      made.push(item);
    }
    const isRepeated = uniqueItems === true && new Set(made.map((item) => JSON.stringify(item))).size < made.length;
    return isRepeated ? noSample('list of that many different items') : made;
  }

  /** A value; undefined if an optional one cannot be made. */
  #sampleOrNothing(of: Json | undefined, depth: number, isRequired: boolean, variant: number): Json | undefined {
    const sample = () => this.sample(of, depth, variant);
    return this.firstFitting(isRequired ? [sample] : [sample, () => undefined], (make) => make());
  }
}

function givenValue(schema: JsonObject, variant: number): Json | undefined {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) {
    if (schema.enum.length === 0) throw new UnfitSchemaError('An enum must hold a value.');
    return schema.enum[variant % schema.enum.length];
  }
  if (schema.default !== undefined) return schema.default;
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined;
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

function requiredOf({ required }: JsonObject): ReadonlyArray<string> {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** The work of a copy: members that it copies, and its types, which are sorted. */
function sizeOf(schema: JsonObject): number {
  const types = Array.isArray(schema.type) ? schema.type.length : 1;
  return Object.keys(schema).length + Object.keys(propertiesOf(schema)).length + requiredOf(schema).length + types;
}

function keysOfReference(reference: string): ReadonlyArray<string> {
  try {
    return keysOfPointer(decodeURIComponent(reference));
  } catch {
    throw new UnfitSchemaError(`The reference ${reference} cannot be read.`);
  }
}

function noSample(of: string): never {
  throw new UnfitSchemaError(`The sandbox makes no ${of}. The schema can hold one in "examples".`);
}

/** The types that the schema names, null last, or the one that its keywords are for. */
function typesOf(schema: JsonObject): ReadonlyArray<Json> {
  const { type } = schema;
  if (Array.isArray(type)) return type.toSorted((one, other) => Number(one === 'null') - Number(other === 'null'));
  if (type !== undefined) return [type];
  if (Object.keys(propertiesOf(schema)).length > 0 || requiredOf(schema).length > 0) return ['object'];
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array'];
  return [schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : 'string'];
}
