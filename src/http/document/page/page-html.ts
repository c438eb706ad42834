/**
 * The page before its script runs, which fills it. Nothing is written into it that its policy would have to allow.
 * `noZensmooth` keeps Swagger UI's scrolling from taking a link over, which would leave the focus where it was.
 */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pet Store</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/page.js" defer></script>
</head>
<body>
<a class="petstore-skip noZensmooth" href="#operations">Skip to the operations</a>
<div id="page">
<noscript>This page needs JavaScript. The interface is described in <a href="/openapi.yaml">openapi.yaml</a>.</noscript>
</div>
</body>
</html>
`;
