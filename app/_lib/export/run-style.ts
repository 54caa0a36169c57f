import { Markup, markup } from "./markup";

/** Style sheet of an exported run: the site's colours, light or dark as the system sets it. */
export const RUN_STYLE = new Markup(`
:root{color-scheme:light dark;--paper:light-dark(#fbfbf9,#101215);--ink:light-dark(#16181d,#eceff2);--muted:light-dark(#5f656e,#98a0a9);
--line:light-dark(#e4e4df,#2a2e34);--accent:light-dark(#0b62a8,#6cb4ee);--alarm:light-dark(#b84607,#ff8a4c);--safe:light-dark(#00785a,#3fcf9f);
--commit:light-dark(#3a94cf,#2f78b3);--wait:light-dark(#868e98,#727b85);--pool:light-dark(#9a83b3,#8f7ba6);--track:light-dark(#ecece7,#1d2126);--calm:light-dark(#84b7d1,#3e6481);
--mono:ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
main{display:grid;grid-template-columns:minmax(0,1fr);gap:26px;max-width:1240px;margin:0 auto;padding:24px 20px 48px}
h1,h2,p,dl,dd,ol,ul,figure{margin:0;padding:0}
h1{font-size:22px}h2{font-size:14px}ol,ul{list-style:none}
code,.number,dd,td,svg text{font-family:var(--mono);font-variant-numeric:tabular-nums}
.head{display:flex;flex-wrap:wrap;justify-content:space-between;gap:6px 24px;padding-bottom:12px;border-bottom:1px solid var(--line);color:var(--muted)}
.head h1{color:var(--ink)}.muted,footer{color:var(--muted);font-size:13px}
.verdict{display:grid;grid-template-columns:190px minmax(0,1fr);gap:8px 24px;align-items:center}
.label{font-weight:650;font-size:13px}.number{font-size:76px;line-height:84px;font-weight:700;letter-spacing:-.06em}
p.alarm,span.alarm,.unsafe .label,.unsafe strong{color:var(--alarm)}.safe strong{color:var(--safe)}
.sentence{font-size:18px;line-height:27px;max-width:44em;margin-bottom:10px}
.stock{display:block;width:100%;height:14px}.words{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 16px;font-size:13px}
rect.track{fill:var(--track)}rect.ink{fill:var(--ink)}rect.alarm{fill:url(#hatch-alarm)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));border-block:1px solid var(--line)}
.tiles div{padding:10px 16px 10px 0}.tiles dt{color:var(--muted);font-size:12px}.tiles dd{font-size:20px;font-weight:700}.tiles small{color:var(--muted);font-size:12px;font-weight:400}
.faults{margin-top:6px;font-size:13px}.faults li{padding:4px 0;border-bottom:1px solid var(--line)}
.findings{margin-top:6px;font-size:13px}.findings li{padding:4px 10px;border-left:3px solid var(--alarm);margin-bottom:3px;background:color-mix(in srgb,var(--alarm) 8%,transparent)}
h3{margin:12px 0 4px;font-size:13px;font-weight:650}.lines{width:auto;font-family:var(--mono)}.lines td{text-align:left;padding-right:28px}.marked>*{color:var(--alarm);background:color-mix(in srgb,var(--alarm) 8%,transparent)}
.story .sentence{margin:4px 0 10px}.story .scroll{max-height:none;margin-top:8px}.story th{white-space:nowrap}.play{display:flex;flex-wrap:wrap;align-items:center;gap:4px;font-size:13px}.play button{min-width:30px;height:28px;border:1px solid var(--muted);border-radius:4px;background:none;color:inherit;font:inherit}
.play .main{width:68px;background:var(--ink);color:var(--paper);font-weight:600}.play label{margin-left:8px}.play .time{margin-left:auto;font-family:var(--mono)}
.lanes{--label:120px;position:relative;margin-top:8px}.lane{display:grid;grid-template-columns:var(--label) minmax(0,1fr);align-items:center;height:44px;border-bottom:1px solid var(--line);font:12.5px/17px var(--mono)}
.lane p{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}.lane small{display:block;overflow:hidden;text-overflow:ellipsis;color:var(--muted);font-size:11.5px}.track-row{position:relative;height:24px}
.bar{position:absolute;top:0;min-width:2px;height:100%;overflow:hidden;white-space:nowrap;font:11.5px/24px var(--mono);container-type:inline-size}.bar span{display:block;max-width:clamp(0px,(100cqi - (var(--length) + 1)*1ch)*999,100%);overflow:hidden;text-indent:.5ch}
.bar[data-state=holds],.bar[data-state=held]{background:var(--accent);color:var(--paper)}.bar[data-state=others]{background:var(--track)}.bar[data-state=waits]{background:linear-gradient(var(--wait),var(--wait)) center/100% 2px no-repeat}.bar[data-state=waits] span{width:max-content;background:var(--paper)}
.bar[data-state=stopped]{border:1px dashed var(--ink);background:var(--track)}.bar[data-state=expired]{border:2px solid var(--accent)}
.bar[data-state=value]{border-left:1px solid var(--muted)}.bar[data-state=rises]{border-left:3px solid var(--alarm);color:var(--alarm);font-weight:650}
.next{position:absolute;top:0;right:0;bottom:0;left:calc(var(--label) + (100% - var(--label))*var(--at,1));border-left:2px solid var(--ink);background:color-mix(in srgb,var(--paper) 72%,transparent);pointer-events:none}
.seek{display:block;width:calc(100% - 112px);margin:4px 0 4px 112px;accent-color:var(--ink)}[data-time=now]>*{box-shadow:inset 0 -1px 0 var(--accent),inset 0 1px 0 var(--accent)}[data-time=next]>*{color:var(--muted)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:26px 40px}
.charts>*{min-width:0}
figure svg{display:block;width:100%;height:auto}.keys{display:flex;flex-wrap:wrap;gap:0 14px;min-height:20px;color:var(--muted);font-size:12px}
.keys svg{display:inline-block;width:22px;height:8px}svg text{fill:var(--muted);font-size:11px}
.grid{stroke:var(--line)}.limit{stroke:var(--muted)}.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.line.accent{stroke:var(--accent)}.line.dashed{stroke:var(--ink);stroke-dasharray:5 4}.line.wait-line{stroke:var(--wait);stroke-dasharray:2 3}
.phase.hold{fill:var(--accent)}.phase.commit{fill:var(--commit)}.phase.wait{fill:var(--wait)}.phase.sold{fill:var(--accent)}.phase.soldOut{fill:var(--pool)}.phase.refused{fill:var(--wait)}.phase.failed{fill:var(--ink)}.phase.poolWait{fill:var(--pool)}
.band{fill:var(--ink);fill-opacity:.09}.edge{fill:none;stroke:var(--ink);stroke-opacity:.55}.plate{fill:var(--paper)}svg text.fault{fill:var(--ink)}
.inside{fill:var(--calm)}.wrong{fill:url(#hatch-alarm)}.selected{fill:var(--accent)}.selected.alarm{fill:var(--alarm)}svg text.on-bar{fill:var(--paper)}
.beyond{fill:url(#hatch-alarm)}section>h2+p{margin-bottom:14px}
.wide .keys{margin:2px 0 4px}.scroll.wide{max-height:none}.scroll.wide svg{min-width:760px}
details{margin-top:4px;font-size:12px}summary{color:var(--muted);cursor:pointer}
.scroll{max-height:340px;overflow:auto}.checks{grid-column:1/-1}.checks .scroll{max-height:none}table{width:100%;border-collapse:collapse;font-size:12.5px}
th{font-weight:400;color:var(--muted);text-align:left}td,thead th:not(:first-child){text-align:right}td,th{padding:3px 12px 3px 0;border-bottom:1px solid var(--line)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:0 40px;margin-top:6px;font-size:13px}
.facts div{display:flex;justify-content:space-between;gap:16px;padding:3px 0;border-bottom:1px solid var(--line)}.facts dt{color:var(--muted)}.facts dd{text-align:right;overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.checks td:last-child{text-align:left;font-family:inherit}.checks thead th:last-child{text-align:left}
@media (max-width:700px){svg text{font-size:13px}.wide svg text{font-size:11px}.verdict{grid-template-columns:minmax(0,1fr)}}
@media print{:root{color-scheme:light}details,.play,.seek{display:none}main{padding:0;gap:18px}figure,section.verdict,.tiles,tr{break-inside:avoid}.charts{grid-template-columns:1fr 1fr}.scroll{max-height:none;overflow:visible}.scroll.wide svg{min-width:0}}
`);

/** Diagonal stripes: a violation, so that colour is not its only sign. */
function stripes(id: string, colour: string): Markup {
  return markup`<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" style="fill:var(--${colour})"/></pattern>`;
}

export const PATTERNS = markup`<svg width="0" height="0" aria-hidden="true" style="position:absolute"><defs>${stripes("hatch-alarm", "alarm")}</defs></svg>`;
