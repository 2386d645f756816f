/** The members of the API's records that the page shows. They are not checked, because the same service sends them. */

export interface Me {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly keyType: 'admin' | 'partner' | 'organization' | 'project';
}

export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly partner: boolean;
}

export interface Flow {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly type: 'simple' | 'graph';
  readonly description: string | null;
  readonly tier: string;
  readonly agentProfileId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FlowVersion {
  readonly id: string;
  readonly flowId: string;
  readonly version: number;
  readonly tag: string;
  readonly flowSchema: unknown;
  readonly isActive: boolean;
  readonly restoredFrom?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface Actor {
  readonly keyId: string;
  readonly keyType: string;
}

export interface ResourceName {
  readonly kind: string;
  readonly id: string;
}

export interface HistoryEvent {
  readonly revision: number;
  readonly type: string;
  readonly time: string;
  readonly actor: Actor | null;
  readonly requestId: string | null;
  readonly resource?: ResourceName;
  readonly summary: string;
  readonly changes: ReadonlyArray<PatchOperation> | null;
}

export interface AuditEntry {
  readonly position: number;
  readonly type: string;
  readonly time: string;
  readonly actor: Actor | null;
  readonly requestId: string | null;
  readonly resource: ResourceName;
  readonly summary: string;
  readonly changes: ReadonlyArray<PatchOperation> | null;
  readonly changesOmitted?: boolean;
}

export interface PhoneNumber {
  readonly id: string;
  readonly projectId: string;
  readonly type: string;
  readonly name: string;
  readonly number: string;
  readonly status: 'enabled' | 'disabled';
  readonly flowId: string | null;
  readonly updatedAt: string;
}

export interface AgentProfile {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly supportedInputLanguages: ReadonlyArray<string>;
  readonly reasoningMode: string;
  readonly outputVoiceId: string;
  readonly flowIds: ReadonlyArray<string>;
  readonly updatedAt: string;
}

export interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: 'draft' | 'published' | 'archived';
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface TemplateField {
  readonly key: string;
  readonly label: string;
  readonly type: 'string' | 'number' | 'boolean';
  readonly required: boolean;
  readonly defaultValue?: string;
  readonly helpText?: string;
}

export interface TemplateFlow {
  readonly key: string;
  readonly name: string;
  readonly flowType: string;
  readonly flowSchema: unknown;
}

export interface TemplateProfile {
  readonly name: string;
  readonly reasoningMode: string;
  readonly supportedInputLanguages: ReadonlyArray<string>;
  readonly outputVoiceId?: string;
}

export interface TemplateVersion {
  readonly id: string;
  readonly templateId: string;
  readonly version: number;
  readonly tag: string | null;
  readonly payload: {
    readonly flows: ReadonlyArray<TemplateFlow>;
    readonly agentProfile?: TemplateProfile;
    readonly knowledgeBases?: ReadonlyArray<{ readonly key: string; readonly name: string }>;
    readonly phoneNumberRequirements?: ReadonlyArray<{ readonly key: string; readonly label: string }>;
  };
  readonly fieldsSchema: ReadonlyArray<TemplateField>;
  readonly publishedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface OperationStep {
  readonly action: string;
  readonly resource: string;
  readonly key?: string | null;
  readonly id: string;
  readonly done: boolean;
}

export interface RunningOperation {
  readonly number: number;
  readonly kind: string;
  readonly templateVersionId: string;
  readonly startedAt: string;
  readonly committed: boolean;
  readonly undoneFor: string | null;
  readonly stepsDone: number;
  readonly steps: ReadonlyArray<OperationStep>;
  readonly problem: { readonly reason: string; readonly attempts: number; readonly retryAt: string } | null;
}

export interface LastOperation {
  readonly number: number;
  readonly kind: string;
  readonly templateVersionId: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
}

export interface Instance {
  readonly id: string;
  readonly templateId: string;
  readonly templateVersionId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly fieldValues: Readonly<Record<string, string>>;
  readonly status: 'provisioning' | 'active' | 'failed';
  readonly resources: {
    readonly flows: ReadonlyArray<{ readonly key: string; readonly flowId: string; readonly flowVersionId: string }>;
    readonly agentProfileId: string | null;
    readonly stores: ReadonlyArray<{ readonly key: string; readonly storeId: string }>;
  };
  readonly phoneNumberRequirements: ReadonlyArray<{
    readonly key: string;
    readonly label: string;
    readonly phoneNumberId: string | null;
  }>;
  readonly operation: RunningOperation | null;
  readonly lastOperation: LastOperation | null;
  /** The ids of flows that were changed by hand. Only a single instance has them. */
  readonly drifted?: ReadonlyArray<string> | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface UpgradePreview {
  readonly flows: {
    readonly added: ReadonlyArray<{ readonly key: string; readonly name: string }>;
    readonly changed: ReadonlyArray<{ readonly key: string; readonly name: string; readonly flowId: string }>;
    readonly removed: ReadonlyArray<{ readonly key: string; readonly name: string; readonly flowId: string }>;
    /** The ids of flows. */
    readonly drifted: ReadonlyArray<string>;
  };
  readonly fields: {
    readonly added: ReadonlyArray<string>;
    readonly removed: ReadonlyArray<string>;
    readonly missing: ReadonlyArray<string>;
  };
}

export interface Customer {
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly clientEmail: string | null;
  readonly personalDataErasedAt: string | null;
  readonly createdAt: string;
}

export interface ApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly keyType: string;
  readonly scopes: ReadonlyArray<string> | null;
  readonly prefix: string;
  readonly createdByKeyId: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastUsedAt: string | null;
}

export interface RecordedAttempt {
  readonly targetNumber: number;
  /** Null for a target that failed, unless the key is an operator's. */
  readonly target: string | null;
  readonly result: 'served' | 'failed' | 'abandoned';
  readonly status: number | null;
  readonly reason: string | null;
  readonly startMs: number;
  readonly durationMs: number;
}

export interface RecordedCall {
  readonly requestId: string;
  readonly time: string;
  readonly keyId: string;
  readonly operation: string;
  readonly model: string;
  readonly streamed: boolean;
  readonly outcome: string;
  readonly reason: string | null;
  readonly attempts: ReadonlyArray<RecordedAttempt>;
  readonly firstContentMs: number | null;
  readonly totalMs: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly characters: number | null;
  readonly audioSeconds: number | null;
  readonly batchId: string | null;
  /** Absent for a key that may not read usage. */
  readonly cost?: number | null;
}

export interface DryRun<Answer = unknown> {
  readonly dryRun: true;
  readonly events: ReadonlyArray<{
    readonly type: string;
    readonly summary: string;
    readonly changes: ReadonlyArray<PatchOperation> | null;
  }>;
  readonly answer: Answer;
}
