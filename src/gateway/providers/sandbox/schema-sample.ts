import type { Json, JsonObject } from '#shared/json/json.ts';
import { keysOfPointer } from '#shared/json/json-pointer.ts';
import { isObject } from '#shared/json/json-value.ts';
import { sampleNumber, sampleString } from './scalar-sample.ts';
import { UnfitSchemaError } from './unfit-schema-error.ts';

/** The depths of a value, tried in this order, so that a recursive schema gives the smallest value. */
const depths = [2, 4, 8, 16, 32];
/** The most schemas visited, over all depths, because a small schema may describe a huge value. */
const maxSteps = 20_000;

/** Keywords that can only be checked on a value, not used to make one. */
const unsupported = [
  'not',
  'if',
  'contains',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  '$dynamicRef',
];

/**
 * Makes a value that a JSON Schema describes, with every possible property and one item in each list. The same schema
 * gives the same value.
 * @see https://json-schema.org/draft/2020-12
 * @throws UnfitSchemaError for a schema that no value fits, or that is not supported
 */
export function sampleSchema(schema: Json): Json {
  const sampler = new SchemaSampler(schema);
  let failure = new UnfitSchemaError('No value fits the schema.');
  for (const depth of depths) {
    try {
      return sampler.sample(schema, depth, 0);
    } catch (error) {
      if (!(error instanceof UnfitSchemaError)) throw error;
      failure = error;
    }
  }
  throw failure;
}

class SchemaSampler {
  readonly #root: Json;
  #steps = 0;

  constructor(root: Json) {
    this.#root = root;
  }

  /** @param variant differs between the items of a list */
  sample(given: Json | undefined, depth: number, variant: number): Json {
    this.#countStep();
    if (given === undefined || given === true) return `sandbox${variant === 0 ? '' : ` ${variant}`}`;
    if (!isObject(given)) throw new UnfitSchemaError('No value fits the schema false.');
    const schema = this.#resolved(given);
    const keyword = unsupported.find((name) => schema[name] !== undefined);
    if (keyword !== undefined) throw new UnfitSchemaError(`The sandbox does not know the keyword ${keyword}.`);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return oneOf(schema.enum, variant);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(alternatives)) return this.#firstOf(schema, alternatives, depth, variant);
    return this.#ofType(schema, depth, variant);
  }

  /** The schema, merged with its references and all parts of `allOf`. */
  #resolved(schema: JsonObject, references = 0): JsonObject {
    this.#countStep();
    if (references > maxReferences) throw new UnfitSchemaError('The schema refers to itself and nothing else.');
    if (typeof schema.$ref === 'string') {
      const { $ref, ...rest } = schema;
      return this.#resolved(merged(rest, this.#at($ref)), references + 1);
    }
    if (!Array.isArray(schema.allOf)) return schema;
    const { allOf, ...rest } = schema;
    const whole = allOf
      .filter(isObject)
      .reduce<JsonObject>((all, part) => merged(all, this.#resolved(part, references + 1)), rest);
    return this.#resolved(whole, references + 1);
  }

  #countStep(): void {
    this.#steps += 1;
    if (this.#steps > maxSteps) throw new UnfitSchemaError('The schema demands more values than the sandbox makes.');
  }

  #at(reference: string): JsonObject {
    if (!reference.startsWith('#')) throw new UnfitSchemaError(`The reference ${reference} leads out of the schema.`);
    let place: Json | undefined = this.#root;
    for (const key of keysOfPointer(decodeURIComponent(reference.slice(1)))) {
      if (Array.isArray(place)) place = place[Number(key)];
      else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    if (!isObject(place)) throw new UnfitSchemaError(`The reference ${reference} leads nowhere.`);
    return place;
  }

  #firstOf(schema: JsonObject, alternatives: ReadonlyArray<Json>, depth: number, variant: number): Json {
    const { anyOf: _, oneOf: __, ...common } = schema;
    let failure = new UnfitSchemaError('No alternative of the schema fits.');
    for (const alternative of alternatives) {
      try {
        return this.sample(isObject(alternative) ? merged(common, alternative) : alternative, depth, variant);
      } catch (error) {
        if (!(error instanceof UnfitSchemaError)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #ofType(schema: JsonObject, depth: number, variant: number): Json {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth - 1);
      case 'array':
        return this.#array(schema, depth - 1);
      case 'string':
        return sampleString(schema, variant);
      case 'integer':
        return sampleNumber(schema, true, variant);
      case 'number':
        return sampleNumber(schema, false, variant);
      case 'boolean':
        return variant % 2 === 0;
      case 'null':
        return null;
      default:
        throw new UnfitSchemaError(`The schema has the unknown type ${JSON.stringify(schema.type)}.`);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    if (depth < 0) throw tooDeep();
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
    const made: [string, Json][] = [];
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const of = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const value = this.#sampleOrNothing(of, depth, required.includes(name));
      if (value !== undefined) made.push([name, value]);
    }
    if (made.length < Number(schema.minProperties ?? 0))
      throw new UnfitSchemaError('The sandbox makes no names of properties.');
    // Required properties come first.
    return Object.fromEntries(made.slice(0, Math.max(required.length, Number(schema.maxProperties ?? made.length))));
  }

  #array(schema: JsonObject, depth: number): ReadonlyArray<Json> {
    if (depth < 0) throw tooDeep();
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const wanted = Math.min(Number(maxItems), Math.max(Number(minItems), first.length, 1));
    const items: Json[] = [];
    for (let index = 0; index < wanted; index += 1) {
      const of = index < first.length ? first[index] : schema.items;
      const item = this.#sampleOrNothing(of, depth, index < Number(minItems), index);
      if (item === undefined) break;
      items.push(item);
    }
    if (schema.uniqueItems === true && new Set(items.map((item) => JSON.stringify(item))).size < items.length)
      throw new UnfitSchemaError('The sandbox does not make that many different items.');
    return items;
  }

  /** A value, or undefined if an optional one does not fit. */
  #sampleOrNothing(schema: Json | undefined, depth: number, isRequired: boolean, variant = 0): Json | undefined {
    try {
      return this.sample(schema, depth, variant);
    } catch (error) {
      if (isRequired || !(error instanceof UnfitSchemaError) || this.#steps > maxSteps) throw error;
      return undefined;
    }
  }
}

const maxReferences = 100;

function tooDeep(): UnfitSchemaError {
  return new UnfitSchemaError(`The schema demands a value of more than ${depths.at(-1)} levels.`);
}

/** Merges two schemas so that both hold. Most keywords occur in only one of them. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
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

function oneOf(values: ReadonlyArray<Json>, variant: number): Json {
  const value = values[variant % values.length];
  if (value === undefined) throw new UnfitSchemaError('An enum must hold a value.');
  return value;
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
