import type { InstanceTarget } from '#domain/instance/events.ts';
import type { FieldValues } from '#domain/instance/field-values.ts';
import type { InstanceState } from '#domain/instance/instance.ts';
import { type Planning, planResources } from '#domain/instance/plan-resources.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import type { PresentResources } from './present-resources.ts';

/** What the instance has when the operation is complete. */
export function newTarget(
  { id, version, payload }: TemplateVersionRecord,
  fieldValues: FieldValues,
  planning: Planning,
): InstanceTarget {
  return {
    templateVersionId: id,
    templateVersion: version,
    fieldValues,
    phoneNumberRequirements: (payload.phoneNumberRequirements ?? []).map(({ key, label }) => ({ key, label })),
    resources: planResources(payload, planning),
  };
}

export function nextOperation(
  instanceId: string,
  { operations, projectId, base }: NonNullable<InstanceState>,
  version: TemplateVersionRecord,
  fieldValues: FieldValues,
  { isThere }: PresentResources,
): InstanceTarget & { readonly operation: number } {
  const operation = operations + 1;
  const planning = { instanceId, projectId, operation, had: base?.resources ?? null, isThere };
  return { operation, ...newTarget(version, fieldValues, planning) };
}
