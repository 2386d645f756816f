import type { FieldsSchema, TemplatePayload } from '#domain/template/payload.ts';

/** A template that the demo's partner publishes. */
export interface DemoTemplate {
  readonly name: string;
  readonly description: string;
  /** Begins with version 1. */
  readonly versions: ReadonlyArray<DemoTemplateVersion>;
}

/** The body of `POST /v1/templates/{templateId}/versions`. */
export interface DemoTemplateVersion {
  readonly tag: string;
  readonly payload: TemplatePayload;
  readonly fieldsSchema: FieldsSchema;
}
