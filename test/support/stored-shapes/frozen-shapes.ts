import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storedFormat } from '#shared/stored-format.ts';
import { type StoredShapes, storedShapes } from './stored-shapes.ts';

/** The shapes that were stored when the format got its number, or later before it was published. */
export interface FrozenShapes {
  readonly format: number;
  readonly shapes: StoredShapes;
}

const file = join(import.meta.dirname, '../../fixtures/stored-shapes.json');

export function readFrozenShapes(): FrozenShapes {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Names the shapes that are new, gone or changed. */
export function differences(frozen: StoredShapes, now: StoredShapes): ReadonlyArray<string> {
  const names = new Set([...Object.keys(frozen), ...Object.keys(now)]);
  return [...names].filter((name) => frozen[name] !== now[name]).sort();
}

/**
 * Freezes the shapes of now.
 * @param isUnpublished whether no release with this number is published, so that its shapes may still change
 * @returns what is wrong; null if they are frozen
 */
export function freezeShapes(isUnpublished: boolean): string | null {
  const frozen = readFrozenShapes();
  const shapes = storedShapes();
  const changed = differences(frozen.shapes, shapes);
  if (changed.length > 0 && frozen.format === storedFormat && !isUnpublished)
    return `What is stored has changed (${changed.join(', ')}): raise the number in src/shared/stored-format.ts first. If no release with number ${storedFormat} is published, add -- --unpublished.`;
  writeFileSync(file, `${JSON.stringify({ format: storedFormat, shapes }, null, 2)}\n`);
  return null;
}
