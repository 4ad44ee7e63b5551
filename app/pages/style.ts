import { createHash } from 'node:crypto'
import { bytesOf, html } from './html.ts'

/**
 * All the style there is: no script, no image, no font, no address. State is a word and a shape, never a colour alone. On a
 * narrow screen a table's rows become blocks, each cell with its column's name, so that nothing is cut off or scrolled.
 * Nothing is put into this template: in this element the entities of `html` would mean nothing.
 */
export const styleElement = html`<style>
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--quiet:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0550ae;--good:#116329;--bad:#a40e26;--odd:#7d4e00}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--quiet:#9da7b3;--line:#3d444d;--panel:#161b22;--link:#79c0ff;--good:#56d364;--bad:#ff938a;--odd:#e3b341}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:72rem;margin:0 auto;padding:.5rem 1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0}
h2{font-size:1.25rem;margin:2rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
section:first-of-type h2{margin-top:.5rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p,ul,dl,table{margin:.5rem 0}
a{color:var(--link)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:0 1.25rem;list-style:none;padding:0}
nav a{display:inline-block;padding:.25rem 0;min-height:1.5rem}
summary{cursor:pointer;color:var(--link);padding:.25rem 0}
code,pre{font:.875rem/1.45 ui-monospace,monospace}
code,bdi{unicode-bidi:isolate}
pre{margin:.5rem 0;padding:.75rem;background:var(--panel);border:1px solid var(--line);white-space:pre-wrap;unicode-bidi:plaintext}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.25rem 1rem}
dt{color:var(--quiet)}
dd{margin:0;min-width:0}
table{border-collapse:collapse;width:100%;margin-top:1rem}
caption{text-align:left;color:var(--quiet);padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}
thead th{font-weight:600}
tbody th{font-weight:400}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-right:1.5rem}
.quiet{color:var(--quiet)}
.state{font-weight:600;margin:.5rem 0 0}
.good{color:var(--good)}
.bad{color:var(--bad)}
.odd{color:var(--odd)}
.skip{position:absolute;left:-100rem}
.skip:focus{position:static}
@media (min-width:48.01rem){
thead th,.receipts tbody th,.events tbody th,.receipts td:nth-child(2),.receipts td:nth-child(5),.events td:nth-child(2){white-space:nowrap}
}
@media (max-width:48rem){
dl{display:block}
dd{margin-bottom:.5rem}
table,caption,tbody,tr{display:block}
tbody th,tbody td{display:inline-block;max-width:100%;margin-right:.75rem}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{padding:.375rem 0;border-bottom:1px solid var(--line)}
th,td{padding:0;border:0}
tbody td:empty{display:none}
td::before,tbody th::before{color:var(--quiet)}
.number{text-align:left;padding:0}
.evidence tbody>tr>:nth-child(2)::before{content:"before: "}
.evidence tbody>tr>:nth-child(3)::before{content:"after: "}
.files tbody>tr>:nth-child(2)::before{content:"+ "}
.files tbody>tr>:nth-child(3)::before{content:"− "}
.files tbody>tr>:nth-child(4)::before{content:"note: "}
.left tbody>tr>:nth-child(2)::before{content:"reason: "}
.receipts tbody>tr>:nth-child(1)::before{content:"# "}
.receipts tbody>tr>:nth-child(2)::before{content:"kind: "}
.receipts tbody>tr>:nth-child(3)::before{content:"what: "}
.receipts tbody>tr>:nth-child(4)::before{content:"decision: "}
.receipts tbody>tr>:nth-child(5)::before{content:"sandbox: "}
.receipts tbody>tr>:nth-child(6)::before{content:"result: "}
.receipts tbody>tr>:nth-child(7)::before{content:"time: "}
.receipts tbody>tr>:nth-child(8)::before{content:"bytes: "}
.receipts tbody>tr>:nth-child(9)::before{content:"hosts: "}
.events tbody>tr>:nth-child(1)::before{content:"# "}
.events tbody>tr>:nth-child(2)::before{content:"at: "}
.events tbody>tr>:nth-child(3)::before{content:"event: "}
.events tbody>tr>:nth-child(4)::before{content:"by: "}
.events tbody>tr>:nth-child(5)::before{content:"attempt: "}
}
</style>`

const [before, after] = ['<style>', '</style>']

/** What the policy of a page allows: this text, and no other. */
export const styleHash = `sha256-${createHash('sha256').update(bytesOf(styleElement).subarray(before.length, -after.length)).digest('base64')}`
