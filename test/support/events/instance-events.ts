import type { WantedVersion } from '#commands/instance/shared/wanted-version.ts';
import type { InstanceEvents, InstanceTarget } from '#domain/instance/events.ts';
import { planResources } from '#domain/instance/plan-resources.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { template } from '#domain/template/template.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionOf,
  templateVersionPublished,
} from './template-events.ts';
import { ids } from './tenants.ts';

type Contents = Partial<Pick<TemplateVersionRecord, 'payload' | 'fieldsSchema'>>;

/** The contents of the example template: two flows, an agent profile, a store, and a required phone number. */
export const templateContents = {
  payload: {
    flows: [
      { key: 'welcome', name: 'Welcome', flowType: 'simple', flowSchema: { say: 'Hello {{fields.name}}' } },
      { key: 'bye', name: 'Bye', flowType: 'graph', flowSchema: ['bye'] },
    ],
    agentProfile: { name: 'Desk', reasoningMode: 'fast', supportedInputLanguages: ['en'] },
    knowledgeBases: [{ key: 'faq', name: 'Questions' }],
    phoneNumberRequirements: [{ key: 'main', label: 'Main line', description: 'Where people call' }],
  },
  fieldsSchema: [
    { key: 'name', label: 'Name', type: 'string', required: true },
    { key: 'limit', label: 'Limit', type: 'number', required: false, defaultValue: '10' },
  ],
} satisfies Contents;

/** A version of the example template, as `loadRelated` returns it. */
export function wantedVersion(
  number = 1,
  {
    published = true,
    archived = false,
    templateId = ids.template as string,
    ...contents
  }: Contents & {
    readonly published?: boolean;
    readonly archived?: boolean;
    readonly templateId?: string;
  } = {},
): WantedVersion {
  const { payload, fieldsSchema } = { ...templateContents, ...contents };
  const numbers = Array.from({ length: number }, (_, index) => index + 1);
  const state = stateOf(
    template,
    templateCreated({ id: templateId }),
    ...numbers.map((each) => templateVersionCreated(each, {}, templateId)),
    ...(published ? [templateVersionPublished(number, templateId)] : []),
    ...(archived ? [templateArchived(templateId)] : []),
  );
  const version = state?.versions.get(templateVersionOf(templateId, number));
  if (state === null || version === undefined) throw new Error('there is no such version');
  const { payloadRevision: _, ...record } = version;
  return { template: state.record, version: { ...record, templateId, tag: null, payload, fieldsSchema } };
}

/** The target of an operation on the example instance. */
export function targetOf(
  operation: number,
  change: Partial<InstanceTarget> = {},
  had: InstanceTarget | null = null,
): InstanceTarget {
  const planning = {
    instanceId: ids.instance,
    projectId: ids.project,
    operation,
    had: had?.resources ?? null,
    isThere: () => true,
  };
  return {
    templateVersionId: templateVersionOf(ids.template, operation),
    templateVersion: operation,
    fieldValues: { name: 'Weber', limit: '10' },
    phoneNumberRequirements: [{ key: 'main', label: 'Main line' }],
    resources: planResources(templateContents.payload, planning),
    ...change,
  };
}

export const instanceCreated = (change: Partial<InstanceEvents['InstanceCreated']> = {}) =>
  newEvent('InstanceCreated', {
    id: ids.instance,
    projectId: ids.project,
    organizationId: ids.partner,
    templateId: ids.template,
    name: 'Weber',
    ...targetOf(1),
    ...change,
  });

const id = ids.instance;

export const upgradeRequested = (operation: number, target: InstanceTarget = targetOf(operation)) =>
  newEvent('InstanceUpgradeRequested', { id, operation, ...target });

export const retryRequested = (operation: number, target: InstanceTarget = targetOf(operation)) =>
  newEvent('InstanceRetryRequested', { id, operation, ...target });

export const instanceDeleted = (operation: number, keepResources = false) =>
  newEvent('InstanceDeleted', { id, operation, keepResources });

export const progressed = (operation: number, done: number) => newEvent('InstanceProgressed', { id, operation, done });

export const attemptFailed = (
  operation: number,
  attempt: number,
  reason = 'not now',
  retryAt = '2026-01-05T09:40:00.000Z',
) => newEvent('InstanceAttemptFailed', { id, operation, attempt, reason, retryAt });

export const operationFailed = (operation: number, reason = 'too large') =>
  newEvent('InstanceOperationFailed', { id, operation, reason });

export const committed = (operation: number) => newEvent('InstanceOperationCommitted', { id, operation });

export const ended = (operation: number, outcome: InstanceEvents['InstanceOperationEnded']['outcome'] = 'succeeded') =>
  newEvent('InstanceOperationEnded', { id, operation, outcome });

/** The events of the example instance until it is active at version 1. */
export const activeInstance = () => [instanceCreated(), progressed(1, 4), committed(1), ended(1)];
