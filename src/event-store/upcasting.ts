import type { JsonObject } from '#shared/json/json.ts';

/** Turns an event's data from one schema version into the next. Pure. */
// biome-ignore lint/suspicious/noExplicitAny: each step knows the shape that its version had; JSON cannot.
export type UpcastStep = (data: any) => object;

/**
 * The steps of each event type from schema version n (at index n - 1) to n + 1. A type without steps is at version 1.
 */
export type Upcasters = Readonly<Record<string, ReadonlyArray<UpcastStep>>>;

/**
 * Converts an event's stored data to the newest shape of its type.
 * @throws UpcastError
 */
export type Upcast = (type: string, schemaVersion: number, data: JsonObject) => JsonObject;

/** Returns data as stored, for readers without upcasters. */
export const asStored: Upcast = (_type, _schemaVersion, data) => data;

/** An event has a shape that this code does not know, probably of a newer release. */
export class UpcastError extends Error {
  override readonly name = 'UpcastError';
}

/** The schema version that new events of a type are written with. */
export function newestVersion(upcasters: Upcasters, type: string): number {
  return stepsOf(upcasters, type).length + 1;
}

/**
 * Makes the function that readers apply to each event. Data in its newest shape is returned unchanged.
 * @param upcasters the steps of every type that ever changed its shape
 * @param isKnown whether this release knows a type; by default every type is known
 */
export function upcastWith(upcasters: Upcasters, isKnown: (type: string) => boolean = () => true): Upcast {
  return (type, schemaVersion, data) => {
    if (!isKnown(type)) throw new UpcastError(`This release does not know the event type ${type}.`);
    const steps = stepsOf(upcasters, type);
    if (schemaVersion === steps.length + 1) return data;
    if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > steps.length + 1)
      throw new UpcastError(
        `An event of type ${type} has schema version ${schemaVersion}; this release knows 1 to ${steps.length + 1}.`,
      );
    return steps.slice(schemaVersion - 1).reduce<JsonObject>((older, step) => step(older) as JsonObject, data);
  };
}

function stepsOf(upcasters: Upcasters, type: string): ReadonlyArray<UpcastStep> {
  return Object.hasOwn(upcasters, type) ? (upcasters[type] ?? []) : [];
}
