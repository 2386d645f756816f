import type { Target } from '#domain/instance/events.ts';
import type { FieldValues } from '#domain/instance/field-values.ts';
import { type Planning, planResources } from '#domain/instance/resources.ts';
import type { WantedVersion } from './wanted-version.ts';

/** What an operation is to bring an instance to. */
export function newTarget(
  { version, payload }: Pick<WantedVersion, 'version' | 'payload'>,
  fieldValues: FieldValues,
  planning: Planning,
): Target {
  return {
    templateVersionId: version.id,
    templateVersion: version.version,
    fieldValues,
    phoneNumberRequirements: (payload.phoneNumberRequirements ?? []).map(({ key, label }) => ({ key, label })),
    resources: planResources(payload, planning),
  };
}
