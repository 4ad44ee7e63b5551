/** What a stranger, a model or a command could write so that it is taken for a part of the page, or read as something else. */
export const hostileTexts: readonly Hostile[] = [
  ['a script', '<script>alert(1)</script>'],
  ['the end of a script and another', '</script><script>alert(2)</script>'],
  ['an SVG that runs', '"><svg onload=alert(3)>'],
  ['an image that runs', `'><img src=x onerror='alert(4)'>`],
  ['an address that runs', 'javascript:alert(5)'],
  ['a link that runs', '<a href="javascript:alert(6)">Approve</a>'],
  ['Markdown', '[Approve](javascript:alert(7)) ![x](https://evil.example/x.png)'],
  ['template literals', `\${alert(8)} {{alert(8)}} <%= alert(8) %> \``],
  ['the ends of what it stands in', '</title></pre></style></details></table><h1>approved</h1>'],
  ['comments and sections', '<!-- --!> <![CDATA[ ]]> <?xml'],
  ['a page that leads away', '<meta http-equiv=refresh content="0;url=https://evil.example">'],
  ['another base', '<base href=https://evil.example/><link rel=stylesheet href=x>'],
  ['a form and a frame', '<form action=//evil.example><iframe src=//evil.example>'],
  ['style', '<style>*{display:none}</style> @import url(//evil.example)'],
  ['what would run when it is opened', '<details open ontoggle=alert(9)>'],
  ['entities', '&lt;script&gt; &#60;b&#62; &amp;amp;'],
  ['a right-to-left override', 'src/\u202egnp.exe', 'src/\\u{202e}gnp.exe'],
  ['isolates and marks', '\u2066a\u2069\u200f\u061c', '\\u{2066}a\\u{2069}\\u{200f}\\u{61c}'],
  ['NUL and a terminal order', 'a\u0000b \u001b[31mred', 'a\\u{0}b \\u{1b}[31mred'],
  ['what can not be seen', 'pass\u200bed \u00ad\u{e0041}', 'pass\\u{200b}ed \\u{ad}\\u{e0041}'],
]

/** `shown`: how a reader sees it, where that is not as it is. */
type Hostile = readonly [name: string, text: string, shown?: string]
