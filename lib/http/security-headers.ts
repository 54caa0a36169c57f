/** Headers that restrict what a browser does with an answer. */

const everywhere = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** For JSON, text and streams: a browser must not run, load or frame anything in them. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...everywhere,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For pages. Next puts the nonce on its own scripts if the request's headers carry the policy. */
export function pageHeaders(nonce: string, isDevelopment: boolean): Readonly<Record<string, string>> {
  return { ...everywhere, "content-security-policy": pagePolicy(nonce, isDevelopment) };
}

function pagePolicy(nonce: string, isDevelopment: boolean): string {
  // In development, React's error overlay evaluates code, and hot reload needs a socket and inline styles.
  const scripts = `'self' 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`;
  const styles = isDevelopment ? "'self' 'unsafe-inline'" : `'self' 'nonce-${nonce}'`;
  return [
    "default-src 'self'",
    `script-src ${scripts}`,
    "script-src-attr 'none'",
    `style-src ${styles}`,
    // Widths of bars and colours of series are style attributes. A style attribute has no selectors and runs no scripts.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${isDevelopment ? " ws:" : ""}`,
    "object-src 'none'",
    "frame-src 'none'",
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
