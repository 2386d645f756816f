import type { Target } from '#domain/instance/events.ts';
import type { FieldValues } from '#domain/instance/field-values.ts';
import { type Planning, planResources } from '#domain/instance/resources.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';

/** What an operation is to bring an instance to. */
export function newTarget(
  { id, version, payload }: TemplateVersionRecord,
  fieldValues: FieldValues,
  planning: Planning,
): Target {
  return {
    templateVersionId: id,
    templateVersion: version,
    fieldValues,
    phoneNumberRequirements: (payload.phoneNumberRequirements ?? []).map(({ key, label }) => ({ key, label })),
    resources: planResources(payload, planning),
  };
}
