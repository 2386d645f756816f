/** A document but for where its last event stands, which is another place in every store: instances' say so. */
export function withoutPosition({ position: _, ...value }: { readonly position?: unknown }): object {
  return value;
}
