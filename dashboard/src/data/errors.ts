/** Errors of the server, with all that it says about them. */

export class ApiError extends Error {
  readonly status: number;
  /** `not_found`, `usage`, `unauthorized` and so on. */
  readonly code: string;
  /** The field that is wrong: `spec.trainer.numNodes`. */
  readonly field: string | null;
  /** What to do. */
  readonly hint: string | null;
  /** Every reason, where there are several. */
  readonly reasons: readonly string[];

  constructor(
    status: number,
    code: string,
    message: string,
    more: { field?: string | null; hint?: string | null; reasons?: readonly string[] } = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.field = more.field ?? null;
    this.hint = more.hint ?? null;
    this.reasons = more.reasons ?? [];
  }
}

/** The error that an answer tells of, whatever its body is. */
export function errorOf(status: number, body: unknown): ApiError {
  const { error, errors } = (body ?? {}) as { error?: unknown; errors?: unknown };
  const { code, message, field, hint } = (error ?? {}) as Record<string, unknown>;
  if (typeof message !== "string") {
    return new ApiError(status, "error", `The server answered with status ${status}.`);
  }
  return new ApiError(status, typeof code === "string" ? code : "error", message, {
    field: typeof field === "string" ? field : null,
    hint: typeof hint === "string" ? hint : null,
    reasons: Array.isArray(errors) ? errors.map(String) : [],
  });
}

export function unreachable(): ApiError {
  return new ApiError(0, "unreachable", "The server does not answer.", {
    hint: "It may have ended because nothing was left to do. Run: trainway dashboard",
  });
}

/** Whether the same question may be answered a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
