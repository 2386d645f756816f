/** A provider has the copy of a response because it makes, or has made, the response in the background. */
export interface CopyName {
  readonly projectId: string;
  readonly id: string;
  /** The model of the catalogue. */
  readonly model: string;
  /** `provider/model`. */
  readonly target: string;
}

/** A provider's copy of a response that is not deleted yet. */
export interface ProviderCopy extends CopyName {
  /** The id of the key whose usage it is. */
  readonly keyId: string;
  readonly organizationId: string;
  readonly partnerId: string | null;
  /** Whether its usage was recorded. */
  readonly isCounted: boolean;
  /** When it is due for the next check, in ms since 1970. */
  readonly checkAt: number;
  /** How many calls about it have failed, one after the other. */
  readonly failures: number;
}

/**
 * Lists the copies of responses that providers have, also of responses that are not stored here any more. Every method
 * throws `UnavailableError` if the store cannot be used.
 */
export interface ProviderCopies {
  readonly add: (copy: ProviderCopy) => Promise<void>;
  /** Marks the usage of a copy as recorded. @returns false if it was marked before, or is not in the list */
  readonly count: (projectId: string, id: string) => Promise<boolean>;
  readonly due: (time: number, limit: number) => Promise<ReadonlyArray<ProviderCopy>>;
  readonly postpone: (projectId: string, id: string, next: Pick<ProviderCopy, 'checkAt' | 'failures'>) => Promise<void>;
  /** Makes copies of erased responses due, so that they are deleted soon. */
  readonly makeDue: (projectId: string, time: number) => Promise<void>;
  readonly remove: (projectId: string, id: string) => Promise<void>;
}
