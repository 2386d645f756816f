import { type Failure, failure } from '#domain/shared/failure.ts';
import { type InstanceState, visibleTarget } from './instance.ts';

export interface UpgradeVersion {
  readonly id: string;
  readonly templateId: string;
  readonly version: number;
  readonly publishedAt: string | null;
}

/** Null if it is published. */
export function checkPublished({ id, publishedAt }: Pick<UpgradeVersion, 'id' | 'publishedAt'>): Failure | null {
  if (publishedAt !== null) return null;
  return failure('template-version-not-published', `Template version ${id} is not published. Publish it first.`);
}

/** The failures of `checkUpgradable`. */
export const upgradeRefusals = [
  'template-version-of-another-template',
  'template-version-not-published',
  'template-version-not-newer',
] as const;

/**
 * Null if the instance can be upgraded.
 * @param isDraftAllowed a version that is not published yet counts as published: for a preview
 */
export function checkUpgradable(
  state: NonNullable<InstanceState>,
  wanted: UpgradeVersion,
  isDraftAllowed = false,
): Failure | null {
  const { id, templateId, version } = wanted;
  if (templateId !== state.templateId) {
    return failure(
      'template-version-of-another-template',
      `Version ${id} is of template ${templateId}; the instance is of ${state.templateId}.`,
    );
  }
  const refusal = isDraftAllowed ? null : checkPublished(wanted);
  if (refusal !== null) return refusal;
  const { templateVersion } = visibleTarget(state);
  if (version > templateVersion) return null;
  return failure('template-version-not-newer', `The instance has version ${templateVersion}; ${version} is not newer.`);
}
