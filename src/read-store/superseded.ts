/**
 * Somebody with a newer lease writes these read models now: this writer is refused, and must not try again. Thrown by
 * writers of stores that several nodes share.
 */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}
