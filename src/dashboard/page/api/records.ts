import type { DryRun as AnyDryRun, HistoryEvent } from '#domain/history/record.ts';
import type { InstanceDetails, InstanceRecord } from '#domain/instance/record.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';

export type { AgentProfileRecord as AgentProfile } from '#domain/agent-profile/record.ts';
// The records of the API have the types of their codecs, which the browser does not load. The page does not check
// them, because the same service sends them.
export type { ApiKeyRecord as ApiKey, KeyIntrospection as Me } from '#domain/api-key/record.ts';
export type { FlowRecord as Flow, FlowVersionRecord as FlowVersion } from '#domain/flow/record.ts';
export type { AuditEntry, HistoryEvent, ResourceName } from '#domain/history/record.ts';
export type { UpgradePreview } from '#domain/instance/upgrade-preview.ts';
export type { CustomerRecord as Customer, OrganizationRecord as Organization } from '#domain/organization/record.ts';
export type { PhoneNumberRecord as PhoneNumber } from '#domain/phone-number/record.ts';
export type { ProjectRecord as Project } from '#domain/project/record.ts';
export type { TemplateRecord as Template, TemplateVersionRecord as TemplateVersion } from '#domain/template/record.ts';
export type { GatewayHealth, TargetStatus } from '#domain/usage/gateway-health.ts';
export type { RecordedCall } from '#domain/usage/recorded-call.ts';

export type HistoryActor = HistoryEvent['actor'];
export type PatchOperation = HistoryEvent['changes'][number];
export type RecordedAttempt = RecordedCall['attempts'][number];
export type TemplateField = TemplateVersionRecord['fieldsSchema'][number];
export type InstanceOperation = NonNullable<InstanceRecord['operation']>;
export type OperationStep = InstanceOperation['steps'][number];

/** Only an instance that is read by its id has `drifted`. */
export type Instance = InstanceRecord & Partial<Pick<InstanceDetails, 'drifted'>>;

export type DryRunOf<Answer = unknown> = Omit<AnyDryRun, 'answer'> & { readonly answer: Answer };
