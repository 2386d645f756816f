import type { JsonObject } from '#shared/json/json.ts';

/** Turns an event's data from one schema version into the next. Pure. */
// biome-ignore lint/suspicious/noExplicitAny: each step knows the shape that its version had; JSON cannot.
export type UpcastStep = (data: any) => object;

/** By event type, the steps from schema version n (at index n - 1) to n + 1. A type without any is at version 1. */
export type Upcasters = Readonly<Record<string, ReadonlyArray<UpcastStep>>>;

/** Brings an event's data, as stored, to the newest shape of its type. @throws UpcastFailure */
export type Upcast = (type: string, schemaVersion: number, data: JsonObject) => JsonObject;

/** An event was written in a shape that this code does not know: by a newer release, most likely. */
export class UpcastFailure extends Error {
  override readonly name = 'UpcastFailure';
}

/** The schema version that new events of a type are written with. */
export function newestVersion(upcasters: Upcasters, type: string): number {
  return stepsOf(upcasters, type).length + 1;
}

/**
 * Makes the function that readers apply to each event. Data already in its newest shape is passed on untouched.
 * @param upcasters the steps of every type that ever changed its shape
 * @param isKnown whether this release knows a type; by default every type is known
 */
export function upcastWith(upcasters: Upcasters, isKnown: (type: string) => boolean = () => true): Upcast {
  return (type, schemaVersion, data) => {
    if (!isKnown(type)) throw new UpcastFailure(`This release does not know the event type ${type}.`);
    const steps = stepsOf(upcasters, type);
    if (schemaVersion === steps.length + 1) return data;
    if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > steps.length + 1)
      throw new UpcastFailure(
        `An event of type ${type} has schema version ${schemaVersion}; this release knows 1 to ${steps.length + 1}.`,
      );
    return steps.slice(schemaVersion - 1).reduce<JsonObject>((older, step) => step(older) as JsonObject, data);
  };
}

function stepsOf(upcasters: Upcasters, type: string): ReadonlyArray<UpcastStep> {
  return Object.hasOwn(upcasters, type) ? (upcasters[type] ?? []) : [];
}
