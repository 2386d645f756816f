import * as E from 'fp-ts/lib/Either.js';
import { DeliveryState } from './delivery-state.ts';

/** The key of the document that holds how far the log was followed; no id of an endpoint has its form. */
export const followedKey = '-followed';

/** Reads a stored state; null for one that this release cannot read, which then counts as lost. */
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
