/** A host has an address that is not public. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/** A host has no address. */
export class HostNotFoundError extends Error {
  override readonly name = 'HostNotFoundError';
}
