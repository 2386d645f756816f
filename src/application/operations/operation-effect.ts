/** The effect of an operation, if its HTTP method does not show it: see `effectOf`. */
export interface OperationEffect {
  /** It loses something, or cannot be undone. */
  readonly isDestructive?: boolean;
  /** A repetition with the same input changes nothing more. */
  readonly isIdempotent?: boolean;
}

/** The members of an operation that decide its effect. */
interface DescribedEffect {
  readonly kind: 'command' | 'query' | 'relay' | 'upload' | 'download';
  readonly http: { readonly method: string };
  readonly effect?: OperationEffect;
}

/**
 * Returns the effect of an operation. If the operation does not name it, its HTTP method decides: a query changes
 * nothing, DELETE loses something, and PUT, PATCH and DELETE may be repeated.
 */
export function effectOf({ kind, http, effect = {} }: DescribedEffect) {
  const isReadOnly = kind === 'query' || kind === 'download';
  return {
    isReadOnly,
    isDestructive: !isReadOnly && (effect.isDestructive ?? http.method === 'delete'),
    isIdempotent: isReadOnly || (effect.isIdempotent ?? http.method !== 'post'),
  };
}
