import * as E from 'fp-ts/lib/Either.js';
import { DeliveryState } from './delivery-state.ts';

/** The key of the document with the followed position. No endpoint's id has this form. */
export const followedKey = '-followed';

/** Reads a stored state. Returns null if this release cannot read it; the state then counts as lost. */
export function readState(text: string): DeliveryState | null {
  const decoded = DeliveryState.decode(parsed(text));
  return E.isRight(decoded) ? decoded.right : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
