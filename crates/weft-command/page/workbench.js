var e=class{#e=new AbortController;#t=0;get unwanted(){return this.#e.signal}add(e){this.#t++,e?.addEventListener(`abort`,()=>--this.#t===0&&this.#e.abort(e?.reason),{once:!0})}},t=class extends Error{fault;constructor(e){super(e.message),this.name=`Refusal`,this.fault=e}},n=256,r=1<<20,i=40,a=32,o=16,s=new Set([`compile`,`explain`,`run`,`sweep`]),c=()=>Math.min(3,navigator.hardwareConcurrency),l=class{#e;#t;#n=[];#r=new Map;#i=new Map;#a=[];#o=0;onbusy=()=>void 0;constructor(e,t=()=>e){this.#e=e,this.#t=t}get transport(){return this.#e.name}async invoke(e,t){return this.#s(e,t)}async#s(e,t,n){t?.throwIfAborted(),this.#o++===0&&this.onbusy(!0);try{let r=this.#c(e,n);return this.#i.get(JSON.stringify(e))?.add(t),u(await r)}finally{setTimeout(()=>{--this.#o===0&&this.onbusy(!1)})}}async together(e,t){let n=[],r=e.map(e=>this.#s(e,t,n));return n.length>0&&this.#u(n),await Promise.allSettled(r)}async invokeAside(e,t){let n=this.#n.pop()??this.#t();try{return u(JSON.parse(await n.invoke(JSON.stringify(e),t)))}finally{this.#n.push(n)}}#c(t,r){let i=JSON.stringify(t),a=this.#r.get(i);if(a)return a;let o=new e;this.#i.set(i,o);let c=()=>this.#i.get(i)===o&&this.#i.delete(i),l=new Promise((e,n)=>{let{unwanted:a}=o;a.addEventListener(`abort`,()=>{c()&&this.#r.delete(i),n(a.reason)});let l={request:i,unwanted:a,done:e,failed:n};if(r)return void r.push(l);if(s.has(t.request))return this.#u([l]);this.#a.push(l)===1&&this.#l()});this.#r.set(i,l);let u=this.#r.keys().next();return this.#r.size>n&&!u.done&&this.#r.delete(u.value),l.then(c,()=>c()&&this.#r.delete(i)),l}async#l(){let e=0;for(let t=0;t<o;t++)this.#a.length>e&&([e,t]=[this.#a.length,0]),await void 0;let t=this.#a.splice(0).filter(({unwanted:e})=>!e.aborted);for(;t.length>0;)this.#u(t.splice(0,a))}#u(t){let n=t.map(({request:e})=>e),i=n.length===1?n[0]:`[${n.join()}]`,a=new e;for(let{unwanted:e}of t)a.add(e);this.#e.invoke(i,a.unwanted).then(e=>{if(e.length>r)for(let e of n)this.#r.delete(e);let i=JSON.parse(e);for(let[e,{done:n}]of t.entries())n(Array.isArray(i)?i[e]:i)}).catch(e=>t.forEach(({failed:t})=>t(e)))}};function u(e){let n=e;if(n.error)throw new t(n.error);return n}async function d(e){let{transport:t}=await(await fetch(new URL(`engine.json`,e))).json();return t===`http`?new l(f(new URL(`invoke`,e))):new l(p(e),()=>p(e))}function f(e){return{name:`http`,async invoke(t,n){let r;try{r=await fetch(e,{method:`POST`,headers:{"content-type":`application/json`},body:t,signal:n??null})}catch{throw n?.throwIfAborted(),Error("`weft serve` does not answer: has it been stopped?")}if(!r.ok)throw Error(await r.text());return r.text()}}}function p(e){let t=new Map,n=0,r=a();function a(){let n=new Worker(new URL(new URL(`worker.js`,import.meta.url).href,``+import.meta.url),{type:`module`});return n.postMessage({engine:new URL(`engine/`,e).href}),n.onmessage=({data:e})=>{let n=t.get(e.id);t.delete(e.id),`answer`in e?n?.done(e.answer):n?.failed(Error(e.failure))},n.onerror=e=>{for(let{failed:n}of t.values())n(Error(e.message));t.clear()},n}function o(){r.terminate(),r=a();for(let[e,{request:n}]of t)r.postMessage({id:e,request:n})}return{name:`wasm`,invoke(e,a){let s=n++;return new Promise((n,c)=>{t.set(s,{request:e,done:n,failed:c}),r.postMessage({id:s,request:e}),a?.addEventListener(`abort`,()=>{c(a?.reason),setTimeout(()=>t.delete(s)&&o(),i)},{once:!0})})}}}function m(e=``){return{initial:e,write:e=>e,read:e=>e}}function h(e,...t){let n=[e,...t];return{initial:e,write:e=>e,read:e=>n.find(t=>t===e)}}function g(e,t=0,n=2**31){return{initial:e,write:String,read(e){let r=/^-?\d{1,10}$/.test(e)?Number(e):NaN;return r>=t&&r<=n?r:void 0}}}function _(e=!1){return{initial:e,write:e=>e?`1`:`0`,read:e=>e===`1`||e!==`0`&&void 0}}function v(...e){return{initial:e,write:e=>e.join(`x`),read:y}}function y(e){let t=e.split(/[x×,]/).map(e=>e.trim());if(!t.every(e=>/^\d{1,9}$/.test(e)))return;let n=t.map(Number);return n.every(e=>e>0&&!(e&e-1))?n:void 0}function ee(...e){return{initial:e,write:e=>e.map(e=>e.toString(16)).join(`.`),read(e){if(e===``)return[];let t=e.split(`.`);if(t.every(e=>/^[0-9a-f]{1,7}$/.test(e)))return t.map(e=>parseInt(e,16))}}}function b(...e){return{initial:e,many:!0,write:e=>e.join(`\0`),read:e=>e===``?[]:e.split(`\0`)}}var x=`-`;function te(e){return`many`in e}function ne(e){let t=Object.entries(e);return Object.fromEntries(t.map(([e,t])=>[e,t.initial]))}function re(e,t){let n=new URLSearchParams;for(let[r,i]of Object.entries(e)){let e=i.write(t[r]);if(e!==i.write(i.initial)){if(!te(i))n.append(r,e);else for(let t of e===``?[x]:e.split(`\0`))n.append(r,t)}}return n.toString()}function ie(e,t){let n=new URLSearchParams(t),r=Object.entries(e);return Object.fromEntries(r.map(([e,t])=>{let r=n.getAll(e),[i]=r;if(i===void 0)return[e,t.initial];let a=te(t)?r.length===1&&i===x?``:r.join(`\0`):i;return[e,t.read(a)??t.initial]}))}function S(e,t){let n=new URLSearchParams(t);return Object.entries(e).filter(([e,t])=>!te(t)&&n.has(e)&&t.read(n.get(e)??``)===void 0).map(([e])=>`${e}=${n.get(e)}`)}function ae(e){let[t=``,...n]=e.replace(/^#\/?/,``).split(`?`);return{view:t,query:n.join(`?`)}}function oe({view:e,query:t}){return t===``?`#/${e}`:`#/${e}?${t}`}function C(e,t=null,...n){let[r,...i]=e.split(`.`),a=document.createElement(r);i.length>0&&(a.className=i.join(` `));for(let[e,n]of Object.entries(t??{})){let t=e.startsWith(`aria-`)||e.startsWith(`data-`);n==null||n===!1&&!t||(typeof n==`function`&&e.startsWith(`on`)?a.addEventListener(e.slice(2),n):n===!0&&!t?a.setAttribute(e,``):a.setAttribute(e,String(n)))}return a.append(...se(n)),a}function w(e,t,...n){let r=document.createElementNS(`http://www.w3.org/2000/svg`,e);for(let[e,n]of Object.entries(t))n!==void 0&&r.setAttribute(e,String(n));return r.append(...n),r}function T(e,...t){e.replaceChildren(...se(t))}function se(e){return e.flat().filter(e=>e!=null&&e!==!1).map(e=>typeof e==`number`?String(e):e)}var ce=0;function E(e){return`${e}-${ce++}`}function D(){let e=new AbortController;return Object.assign(t=>{let n=e,{signal:r}=e=new AbortController;t(Object.assign(()=>!r.aborted&&e.signal===r,{unwanted:r})),n.abort()},{end:()=>e.abort()})}function le(e,t,n){let r=e.split(`
`)[t-1];if(r===void 0)return``;let i=r.replace(/\t/g,` `),a=String(t);return`${a} | ${i}\n${` `.repeat(a.length)} | ${` `.repeat(Math.max(0,n-1))}^`}function ue({message:e}){return/^`(\w+)`/.exec(e)?.[1]}function de(e,t,n){return(e.all??[e]).map(({message:e,hint:r,line:i,column:a})=>{let o=t!==void 0&&i!==void 0&&a!==void 0?le(t,i,a):``;return[`error: ${n===void 0?e:e.replace(/^`\w+`/,n)}`,o,r?`help: ${r}`:``].filter(e=>e!==``).join(`
`)}).join(`

`)}var O=class{element=C(`div.fault`,{role:`alert`,hidden:!0});clear(){this.element.hidden=!0,T(this.element)}show(e,n,r){let i=(e instanceof t?de(e.fault,n?.(e.fault),r?.(e.fault)):`error: ${e instanceof Error?e.message:String(e)}`).split(`
`).map(e=>/^(error|help): /.test(e)?C(`span.sentence`,null,e):e);T(this.element,C(`pre`,null,i.flatMap((e,t)=>t===0?[e]:[`
`,e]))),this.element.hidden=!1}},fe=[`system`,`light`,`dark`],pe=`weft-theme`,me=matchMedia(`(prefers-color-scheme: dark)`);function he(){let e=localStorage.getItem(pe);return fe.find(t=>t===e)??`system`}function ge(){let e=()=>{let e=he();document.documentElement.dataset.theme=e===`system`?me.matches?`dark`:`light`:e};e(),me.addEventListener(`change`,e),addEventListener(`weft-theme`,e)}function _e(){let e=()=>`Theme: ${he()}`,t=C(`button.quiet.theme`,{type:`button`},e());return t.addEventListener(`click`,()=>{let n=fe[(fe.indexOf(he())+1)%fe.length]??`system`;localStorage.setItem(pe,n),dispatchEvent(new Event(`weft-theme`)),t.textContent=e()}),t}function ve(e,t,n){let r=C(`main`,{id:`view`,tabindex:-1}),i=C(`p.spoken`,{role:`status`,"aria-live":`polite`}),a=new O,o=new Map(n.map(e=>[e.id,C(`a.tab`,{href:oe({view:e.id,query:``})},e.title)]));T(e,C(`a.skip`,{href:`#view`,onclick:e=>(e.preventDefault(),r.focus())},`Skip to the view`),C(`header.top`,null,C(`a.brand`,{href:`#/`},be(),C(`span`,null,`Weft`)),C(`nav`,{"aria-label":`Views`},[...o.values()]),_e()),a.element,r,C(`footer.bottom`,null,C(`p`,null,`Everything here is answered by Weft itself, `,ye[t.transport],`. Nothing leaves this machine.`)),i);let s=null,c=``;function l(e){let n=t=>{let n=s?.view===e?s.state:ne(e.fields);return oe({view:e.id,query:re(e.fields,{...n,...t})})};return{engine:t,link:n,announce:e=>i.textContent=e,set(e,t=`step`){let r=n(e);r!==location.hash&&(t===`step`?history.pushState(null,``,r):history.replaceState(null,``,r),u())}}}function u(){c=location.hash;let e=ae(c),t=n.find(t=>t.id===e.view)??n[0];if(!t)return;let i=ie(t.fields,e.query),u=[...e.view!==``&&e.view!==t.id?[`there is no page \`${e.view}\`; this is ${t.title}`]:[],...S(t.fields,e.query).map(e=>`\`${e}\` cannot be read and is ignored`)];if(u.length>0?a.show(Error(`the address: ${u.join(`; `)}`)):a.clear(),s?.view!==t){s?.mounted.unmount?.(),T(r),r.dataset.view=t.id,document.title=`${t.title} · Weft workbench`;for(let[e,n]of o)e===t.id?n.setAttribute(`aria-current`,`page`):n.removeAttribute(`aria-current`);s={view:t,state:i,mounted:t.mount(r,l(t))}}s.state=i,s.mounted.update(i)}t.onbusy=e=>r.setAttribute(`aria-busy`,String(e)),addEventListener(`popstate`,u),addEventListener(`hashchange`,()=>location.hash===c||u()),u()}var ye={wasm:`as WebAssembly in this tab`,http:`in the program that serves this page`};function be(){let e=new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 24" width="28" height="24" aria-hidden="true"><path class="warp" d="M6 1v22M14 1v22M22 1v22"/><path class="woof" d="M1 6h3m4 0h12m4 0h3M1 12h11m4 0h11M1 18h3m4 0h12m4 0h3"/></svg>`,`image/svg+xml`).documentElement;return document.importNode(e,!0)}function xe(e,t,n){if(t.isEqualNode(n))return;let[r,i]=[[...t.children],[...n.children]],a=r.length===0&&i.length===0;if(t.tagName!==n.tagName||r.length!==i.length||e.children.length!==r.length)return e.replaceWith(document.importNode(n,!0));for(let{name:r}of[...t.attributes])n.hasAttribute(r)||e.removeAttribute(r);for(let{name:r,value:i}of n.attributes)t.getAttribute(r)!==i&&e.setAttribute(r,i);if(a){t.textContent!==n.textContent&&(e.textContent=n.textContent);return}let o=[...e.children];for(let[e,t]of o.entries())xe(t,r[e],i[e])}var Se=14,Ce=6;function we(e){let t=e=>{let t=/^(.*?[a-z]\w*) (\d[\d ]*(?:\.\d+)?)$/.exec(e);return t?[t[1],t[2]]:[e,``]};return e.split(`: `).filter(e=>e!==``).map(e=>e.replace(/(\w+ \d+) of (?=\w+ \d)/g,`$1, `).split(`, `).map(t))}var Te=class{element=C(`div.readout`,{"aria-hidden":`true`,hidden:!0});show(e){this.element.hidden=e===``,T(this.element,we(e).map(e=>C(`dl`,null,e.flatMap(([e,t])=>[C(`dt`,t===``?{class:`alone`}:null,e),t!==``&&C(`dd`,null,t)]))))}beside(e,t){if(this.element.hidden)return;let{width:n,height:r}=this.element.getBoundingClientRect(),i=(e,t,n)=>{let r=e+Se;return Math.max(Ce,r+t+Ce>n?e-Se-t:r)},{clientWidth:a,clientHeight:o}=document.documentElement;this.element.style.translate=`${i(e,n,a)}px ${i(t,r,o)}px`}};function k(e){return e?.getAttribute(`data-says`)??``}var A=class{element;#e;#t;#n=new Te;#r;#i=C(`button.quiet`,{type:`button`,hidden:!0,"aria-pressed":`false`,onclick:()=>this.#m(!this.#a)},`Enlarge`);#a=!1;#o=0;#s=``;#c;#l=!1;#u=null;constructor(e){this.#r=e,this.#e=C(`div.frame`,{tabindex:0,role:`group`,"aria-label":e.name}),this.#t=C(`p.says`,{"aria-live":`polite`});let t=(e,t)=>C(`button.quiet`,{type:`button`,onclick:()=>void this.save(t)},e);this.element=C(`figure.picture`,null,this.#e,this.#n.element,C(`figcaption`,null,this.#t,C(`span.exports`,null,this.#i,t(`SVG`,`svg`),t(`PNG`,`png`)))),new ResizeObserver(()=>{this.#o=this.#e.clientWidth,this.#m(this.#a)}).observe(this.#e),this.#e.addEventListener(`pointerover`,e=>this.#g(ze(e.target))),this.#e.addEventListener(`pointermove`,e=>this.#n.beside(e.clientX,e.clientY)),this.#e.addEventListener(`pointerleave`,()=>this.#g(null)),this.#e.addEventListener(`blur`,()=>this.#g(null)),this.#e.addEventListener(`click`,e=>{let t=ze(e.target);t&&this.#_(t)}),this.#e.addEventListener(`keydown`,e=>this.#v(e))}show(e){if(e===this.#s)return;let t=this.#u&&Be(this.#u);this.#s=e,this.#u?.classList.remove(`pointed`),this.#u=null;let n=this.#d(e);n.setAttribute(`aria-hidden`,`true`);let r=n.querySelector(`:scope > title`);r&&this.#e.setAttribute(`aria-label`,r.textContent??``),r?.remove();let i=this.#e.firstElementChild,a=this.#c;this.#c=n,i instanceof SVGSVGElement&&a?(this.#h(i),xe(i,a,n)):T(this.#e,document.importNode(n,!0)),t&&this.#g(this.cell(t)),this.#m(this.#a)}#d(e){let t=this.#p(),n=t=>{let n=Me(t?e:e.replaceAll(Ae,``));return n.querySelector(`:scope > style`)?.remove(),this.#r.bare&&Re(n),n},r=!this.#a&&ke(t,je(e))?n(!1):void 0;return this.#l=r!==void 0&&ke(t,r.viewBox.baseVal.width),this.#l?r:n(!0)}#f(){if(!this.#l)return;this.#l=!1;let e=[...this.cells()].map(([e])=>e);for(let[t,n]of Me(this.#s).querySelectorAll(`g[data-row]`).entries())for(let[r,i]of[...n.children].filter(({tagName:e})=>e!==`title`).entries())i.tagName===`text`&&e[t]?.insertBefore(document.importNode(i,!0),e[t].children[r]??null);this.#c=void 0}#p(){return this.#o||=this.#e.clientWidth}#m(e){let t=this.#e.querySelector(`svg`),n=this.#p();if(!t||n===0)return;t.dataset.box??=t.getAttribute(`viewBox`)??``;let[r=0,i=0,a=0,o=0]=t.dataset.box.split(` `).map(Number),s=ke(n,a);this.#a=e,this.#i.hidden=!s,this.#i.setAttribute(`aria-pressed`,String(e)),this.#i.textContent=e?`Fit`:`Enlarge`,this.#e.classList.toggle(`large`,e);let c=s&&!e;c||this.#f(),c!==t.classList.contains(`bare`)&&(t.classList.toggle(`bare`,c),Ne(t,c?Fe(t):{x:r,y:i,width:a,height:o}),c&&Pe(t,n))}#h(e){let[t=0,n=0,r=0,i=0]=(e.dataset.box??``).split(` `).map(Number);e.classList.contains(`bare`)&&Ne(e,{x:t,y:n,width:r,height:i}),e.classList.remove(`bare`),delete e.dataset.box}clear(){this.#s=``,this.#c=void 0,this.#u=null,this.#t.textContent=``,this.#n.show(``),T(this.#e)}cell({panel:e,row:t,column:n}){return this.#e.querySelector(`g[data-panel="${e}"][data-row="${t}"][data-column="${n}"]`)}*cells(){for(let e of this.#e.querySelectorAll(`g[data-row]`))yield[e,Be(e)]}mark(e,t){for(let[n,r]of this.cells())n.classList.toggle(e,t(r))}#g(e){if(e===this.#u)return;this.#u?.classList.remove(`pointed`),this.#u=e,e?.classList.add(`pointed`);let t=k(e);this.#t.textContent=t,this.#n.show(t),this.#r.pointed?.(e&&Be(e))}#_(e){this.#g(e),this.#r.chosen?.(Be(e))}#v(e){let t={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]}[e.key];if(t){let n=this.#u&&Be(this.#u),r=n?this.cell({panel:n.panel,row:n.row+t[0],column:n.column+t[1]}):this.cell({panel:0,row:0,column:0});if(r){this.#g(r),r.scrollIntoView({block:`nearest`,inline:`nearest`});let{right:e,bottom:t}=r.getBoundingClientRect();this.#n.beside(e,t)}e.preventDefault()}else(e.key===`Enter`||e.key===` `)&&this.#u?(this.#_(this.#u),e.preventDefault()):e.key===`Escape`&&this.#g(null)}async save(e){this.#f();let t=this.#e.querySelector(`svg`);if(!t)return;let n=He(t),r=e===`svg`?new Blob([n],{type:`image/svg+xml`}):await Ue(n),i=URL.createObjectURL(r);C(`a`,{href:i,download:`${this.#r.name.toLowerCase().replace(/[^a-z0-9]+/g,`-`)}.${e}`}).click(),setTimeout(()=>URL.revokeObjectURL(i),1e4)}},Ee=.55,[De,Oe]=[2,150],ke=(e,t)=>e<Ee*t,Ae=/<g class="([\w-]+)"><text ([^>]*>[^<]*<\/text>)<\/g>/g,je=e=>Number(/ width="([\d.]+)"/.exec(e)?.[1]??0);function Me(e){let t=e.replaceAll(/(<g [^>]*data-row="[^>]*)><title>([^<]*)<\/title>/g,(e,t,n)=>`${t} data-says="${n.replaceAll(`"`,`&quot;`)}">`),n=C(`template`);return n.innerHTML=t.replaceAll(Ae,`<text class="$1" $2`),n.content.firstElementChild}function Ne(e,{x:t,y:n,width:r,height:i}){e.setAttribute(`viewBox`,`${t} ${n} ${r} ${i}`),e.setAttribute(`width`,String(r)),e.setAttribute(`height`,String(i)),e.removeAttribute(`preserveAspectRatio`),e.style.removeProperty(`aspect-ratio`)}function Pe(e,t){let{width:n,height:r}=e.viewBox.baseVal,i=r*t/n,a=Math.max(1,Math.min(De,Oe/i));e.setAttribute(`preserveAspectRatio`,`none`),e.style.aspectRatio=`${n} / ${r*a}`}function Fe(e){let t=[...e.querySelectorAll(`:scope > g[transform]`)].filter(e=>e.querySelector(`g[data-row]`)).map(e=>{let[t,n]=Ie(e);return[...e.querySelectorAll(`:scope > rect.block`)].map(e=>{let[r,i,a,o]=[`x`,`y`,`width`,`height`].map(t=>Number(e.getAttribute(t)??0));return[t+r,n+i,t+r+a,n+i+o]})});if(t.length>0&&t.every(e=>e.length>0)){let[e,n,r,i]=t.flat().reduce(([e,t,n,r],[i,a,o,s])=>[Math.min(e,i),Math.min(t,a),Math.max(n,o),Math.max(r,s)]);return{x:e-2,y:n-2,width:r-e+4,height:i-n+4}}let n=e.getScreenCTM(),r=[...e.querySelectorAll(`g[data-row]`)].map(e=>e.getBoundingClientRect());if(!n||r.length===0)return e.viewBox.baseVal;let i=n.inverse(),a=(e,t)=>r.reduce((n,r)=>e(n,t(r)),t(r[0])),o=new DOMPoint(a(Math.min,e=>e.left),a(Math.min,e=>e.top)).matrixTransform(i),s=new DOMPoint(a(Math.max,e=>e.right),a(Math.max,e=>e.bottom)).matrixTransform(i);return{x:o.x-2,y:o.y-2,width:s.x-o.x+4,height:s.y-o.y+4}}function Ie(e){let[t=0,n=0]=/\((\d+) (\d+)\)/.exec(e?.getAttribute(`transform`)??``)?.slice(1).map(Number)??[];return[t,n]}function Le(e){let t=[...e.querySelectorAll(`:scope > rect.block`)],n=(e,t)=>Number(e.getAttribute(t)??0);return t.length===0?1/0:Math.max(...t.map(e=>n(e,`x`)+n(e,`width`)))}function Re(e){let[t,...n]=e.querySelectorAll(`:scope > g[transform]`),[r,i]=Ie(t),a=Ie(n[0])[1]-i;if(!t||a<=0)return;t.remove();let[o=0,s=0]=[`width`,`height`].map(t=>Number(e.getAttribute(t))),c=Math.max(...n.map(e=>Ie(e)[0]+Le(e))),l=Math.min(o,Math.ceil(c)+r);e.setAttribute(`viewBox`,`0 ${a} ${l} ${s-a}`),e.setAttribute(`width`,String(l)),e.setAttribute(`height`,String(s-a))}function ze(e){return e instanceof Element?e.closest(`g[data-row]`):null}function Be(e){let{panel:t,row:n,column:r}=e.dataset;return{panel:Number(t),row:Number(n),column:Number(r)}}var Ve=[`fill`,`fill-opacity`,`stroke`,`stroke-width`,`stroke-dasharray`,`opacity`,`font-family`,`font-size`,`font-weight`,`text-anchor`];function He(e){let t=e.cloneNode(!0),n=e.querySelectorAll(`rect, path, text, circle, line, g`),r=t.querySelectorAll(`rect, path, text, circle, line, g`);n.forEach((e,t)=>{let n=getComputedStyle(e);for(let e of Ve){let i=n.getPropertyValue(e);i&&r[t]?.style.setProperty(e,i)}});for(let e of t.querySelectorAll(`[data-says]`))e.prepend(w(`title`,{},k(e))),e.removeAttribute(`data-says`);t.querySelector(`style`)?.remove(),t.classList.remove(`bare`);let i=e.dataset.box?.split(` `);i&&(t.removeAttribute(`preserveAspectRatio`),t.style.removeProperty(`aspect-ratio`),t.setAttribute(`viewBox`,i.join(` `)),t.setAttribute(`width`,i[2]),t.setAttribute(`height`,i[3]),delete t.dataset.box),t.removeAttribute(`aria-hidden`),t.setAttribute(`xmlns`,`http://www.w3.org/2000/svg`);let a=t.querySelector(`rect.page`),o=getComputedStyle(document.documentElement).getPropertyValue(`--card`).trim();return a?.style.setProperty(`fill`,o||`#ffffff`),new XMLSerializer().serializeToString(t)}async function Ue(e){let t=new Image;t.src=`data:image/svg+xml;charset=utf-8,${encodeURIComponent(e)}`,await t.decode();let n=C(`canvas`,{width:t.width*2,height:t.height*2});return n.getContext(`2d`)?.drawImage(t,0,0,n.width,n.height),new Promise((e,t)=>{n.toBlob(n=>n?e(n):t(Error(`the picture is too large for PNG`)))})}function We(e,t){let n=C(`button.quiet`,{type:`button`},e),r;return n.addEventListener(`click`,()=>{navigator.clipboard.writeText(t()).then(()=>n.textContent=`Copied`,()=>n.textContent=`The browser refuses`),clearTimeout(r),r=setTimeout(()=>n.textContent=e,1600)}),n}function j(e,t,n={}){let r=E(`field`),i=n.list?C(`datalist`,{id:E(`list`)}):null;n.list?.(e=>i&&T(i,e.map(e=>C(`option`,{value:e}))));let a={id:r,spellcheck:`false`,autocomplete:`off`,autocapitalize:`off`},o=(n.lines??1)>1?C(`textarea`,{...a,rows:n.lines}):C(`input`,{...a,type:`text`,list:i?.id??null});return o.addEventListener(`change`,()=>t(o.value)),o.addEventListener(`keydown`,e=>{let n=e;n.key===`Enter`&&(o instanceof HTMLInputElement||n.ctrlKey||n.metaKey)&&t(o.value)}),{element:C(`div.field`,null,C(`label`,{for:r},e),o,i,n.hint&&C(`p.hint`,null,n.hint)),input:o,set(e){o.value!==e&&(o.value=e)}}}var Ge=150;function M(e,t,n,r={}){let i=C(`p.wrong`,{id:E(`wrong`),"aria-live":`polite`,hidden:!0}),a=0,o,s,c=async e=>{clearTimeout(s);let i=++a,o=f.input.value;e&&r.anyway?.(o);let c=await t(o);i===a&&(u(`wrong`in c?c:void 0),e&&!r.anyway&&`value`in c&&n(c.value))},l=``,u=t=>{let n=t?JSON.stringify(t):``;n!==l&&(l=n,f.input.setAttribute(`aria-invalid`,String(t!==void 0)),i.hidden=t===void 0,T(i,t&&`${e}: ${t.wrong}. `,t?.instead!==void 0&&d(t.instead)))},d=e=>C(`button.quiet.instead`,{type:`button`,onclick:()=>(f.input.value=e,void c(!0))},`Use ${e}`),f=j(e,()=>void c(!0),r);return f.input.setAttribute(`aria-describedby`,i.id),f.input.addEventListener(`input`,()=>{clearTimeout(s),s=setTimeout(()=>void c(!1),Ge)}),f.element.append(i),{...f,set(e){e!==o&&(o=e,f.input.value!==e&&(a++,f.set(e),u()))}}}function N(e,t,n){let r=E(`field`),i=C(`select`,{id:r}),a=e=>T(i,e.map(({value:e,label:t})=>C(`option`,{value:e},t)));return a(t),i.addEventListener(`change`,()=>n(i.value)),{element:C(`div.field`,null,C(`label`,{for:r},e),i),select:i,offer:a,set(e){i.value=e}}}function Ke(e,t,n){let r=E(`segmented`),i=new Map,a=C(`fieldset.segmented`,null,C(`legend`,null,e));for(let{value:e,label:o}of t){let t=C(`input`,{type:`radio`,name:r,value:e,onchange:()=>n(e)});i.set(e,t),a.append(C(`label`,null,t,C(`span`,null,o)))}return{element:a,set(e){for(let[t,n]of i)n.checked=t===e}}}function qe(e,t){let n=E(`field`),r=C(`input`,{id:n,type:`range`,min:0,max:0,step:1,value:0}),i=C(`output`,{for:n});return r.addEventListener(`input`,()=>t(Number(r.value))),{element:C(`div.field.slider`,null,C(`label`,{for:n},e),r,i),input:r,set(e){r.value=String(e)},reach(e){r.max=String(e),r.disabled=e<=0},say(e){i.textContent=e,r.setAttribute(`aria-valuetext`,e)}}}var Je={cuda:`CUDA C++`,ptx:`PTX`,hip:`HIP C++`},Ye=class{element;#e;#t;#n=C(`pre`,{tabindex:0,"aria-label":`Code of the conversion`});#r=new O;#i;#a=`cuda`;constructor(e){this.#e=e.engine,this.#t=Ke(`Language`,Object.keys(Je).map(e=>({value:e,label:Je[e]})),t=>e.set({code:t})),this.#i=We(`Copy`,()=>this.#n.textContent??``),this.element=C(`section.card`,{"aria-label":`Code`},C(`header`,null,C(`h2`,null,`Code`),C(`p`,null,`The bytes that `,C(`code`,null,`weft convert --emit`),` prints.`)),C(`div.controls`,null,this.#t.element,this.#i),this.#r.element,C(`div.code`,null,this.#n))}update(e){this.#a=e.code,this.#t.set(e.code)}async show(e,t){try{let{text:n}=await this.#e.invoke({...e,emit:this.#a});if(!t())return;this.#r.clear(),this.#o(n??``)}catch(e){if(!t())return;this.#o(``),this.#r.show(e)}}clear(){this.#r.clear(),this.#o(``)}#o(e){this.#n.textContent=e,this.#n.parentElement.hidden=e===``,this.#i.hidden=e===``}};function Xe(e){return(/: element ((?:\d+|-)(?: (?:\d+|-))*)/.exec(e)?.[1]??``).split(` `).filter(e=>/^\d+$/.test(e))}function Ze(e,t){let n=new Set(Xe(k(t&&e.cell(t))));for(let[t]of e.cells())t.classList.toggle(`linked`,n.size>0&&Xe(k(t)).some(e=>n.has(e)))}function Qe(e){return 2**Math.max(0,Math.round(Math.log2(Math.max(1,e))))}function $e(e){let t=e.trim().replace(/^[[(]|[\])]$/g,``).trim().split(/\s*[x×*,]\s*|\s+/i),n=y(t.join(`x`));if(n)return{value:n};if(e.trim()===``)return{wrong:`extents are missing`,instead:`16x32`};let r=t.find(e=>!/^\d+$/.test(e));if(r!==void 0)return{wrong:r===``?`an extent is missing`:`\`${r}\` is not a number`};let i=t.map(Number),a=i.map(Qe).join(`x`);return i.includes(0)?{wrong:`an extent is at least 1`,instead:a}:t.some(e=>e.length>9)?{wrong:`an extent has too many digits`}:{wrong:`${i.find(e=>Qe(e)!==e)} is not a power of two`,instead:a}}function et(e){let t=e.trim().split(/\s*[x×*,]\s*|\s+/i);if(e.trim()===``)return{wrong:`a count of blocks is missing`,instead:`1`};let n=t.find(e=>!/^\d{1,9}$/.test(e));return n===void 0?t.length>3?{wrong:`a grid has at most three counts, along x, y and z`,instead:t.slice(0,3).join(`x`)}:t.some(e=>Number(e)===0)?{wrong:`a grid has at least one block`,instead:t.map(e=>Math.max(1,Number(e))).join(`x`)}:{value:t.map(Number).join(`x`)}:{wrong:n===``?`a count is missing`:`\`${n}\` is not a count of blocks`}}var tt=[`random`,`range`,`zeros`,`ones`,`empty`];function nt(e,t,n){let r=e.trim(),i=/^ptr<(\w+)>$/.exec(t)?.[1];if(r===``)return{wrong:`a value is missing`,instead:n};if(i===void 0){let e=/^[iu]\d+$/.test(t);return t===`i1`&&/^(true|false)$/.test(r)||(e?/^-?\d+$/.test(r):!/^[fb]/.test(t)||Number.isFinite(Number(r))||/^-?(inf|nan)$/i.test(r))?{value:r}:{wrong:`\`${r}\` is not a ${e?`whole `:``}number`,instead:n}}let[,a=``,o=``,s=``]=/^([^:]*):(\w+)\[(.*)\]$/.exec(r)??[];if(o===``)return{wrong:`a pointer takes a buffer: how it is filled, its element type and its extents`,instead:n};let c=/^(-?[\d.]+?)\.\.(-?[\d.]+)$/.exec(a),l=(e,t,n)=>`${e}:${t}[${n}]`;if(!c&&!tt.includes(a))return{wrong:`a buffer is filled with ${tt.join(`, `)}, or from two bounds such as -8..8, not by \`${a}\``,instead:l(`random`,o,s)};if(c&&Number(c[1])>=Number(c[2]))return{wrong:`the lower bound ${c[1]} is not below ${c[2]}`,instead:l(`${c[2]}..${c[1]}`,o,s)};if(o!==i)return{wrong:`the kernel takes elements of ${i}, not ${o}`,instead:l(a,i,s)};let u=s.split(`x`).find(e=>!/^[1-9]\d*$/.test(e));return u===void 0?{value:r}:{wrong:u===``?`an extent is missing`:`\`${u}\` is not an extent`,instead:n}}function rt(e,t){let n=e.trim().split(/[\s,]+/).filter(e=>e!==``),r=Array.from({length:t},(e,t)=>String(t)),i=[...r].reverse().join(` `),a=n.find(e=>!r.includes(e));if(a!==void 0)return{wrong:`there is no axis \`${a}\``,instead:i};let o=r.find(e=>!n.includes(e));return o===void 0?n.length>t?{wrong:`axis ${n.find((e,t)=>n.indexOf(e)<t)} occurs twice`,instead:i}:{value:n.join(` `)}:{wrong:`axis ${o} is missing`,instead:i}}function it(e,t){let n=$e(e);if(`wrong`in n)return n;let r=e=>e.reduce((e,t)=>e*t,1);return r(n.value)===r(t)?{value:n.value.join(`x`)}:{wrong:`${r(n.value)} elements where the tensor has ${r(t)}`,instead:[...t].reverse().join(`x`)}}function at(e,t,n,r){let i=e.trim();return i===t?{value:i}:i===``?{wrong:`a name is missing`,instead:t}:/^[A-Za-z]\w*$/.test(i)?n.includes(i)?{wrong:`there is a layout ${i} already`,instead:r}:{value:i}:{wrong:`a name is a letter, then letters and digits`,instead:i.replace(/^[^A-Za-z]+|\W/g,``)||r}}function ot(e,t){let n=e.trim(),r=[...t.matchAll(/tt\.func\s+(?:public\s+)?@"?([\w.$]+)"?/g)].map(([,e=``])=>e);return n===``||r.length===0||r.includes(n)?{value:n}:{wrong:`the text has no kernel \`${n}\``,instead:r[0]}}async function st(e,t){let n=e.trim();if(n===``)return{wrong:`an element type is missing`,instead:`f32`};let{elements:r}=await t.invoke({request:`machines`});if(r.some(({name:e})=>e===n))return{value:n};let i=r.find(({name:e,other_names:t})=>[e,...t].some(e=>e.toLowerCase()===n.toLowerCase()));return i?{wrong:`\`${n}\` is spelled differently here`,instead:i.name}:lt(n,()=>t.invokeAside({request:`layout`,attribute:`[offset: 1] -> [dim0: 2]`,shape:[2],element:n}))}async function ct(e,t,n){let r=e.trim().replace(/\s+/g,` `);return r===``?{wrong:`a layout is missing: a Triton attribute, bases, or CuTe`}:lt(r,()=>n.invokeAside({request:`layout`,attribute:r,shape:t}))}async function lt(e,n){try{return await n(),{value:e}}catch(n){if(!(n instanceof t))return{value:e};let{message:r,hint:i}=n.fault;return{wrong:`${r.replace(/^`\w+`(, )?(: )?/,``)}${i?`; ${i}`:``}`}}}function ut(e,t){e.invoke({request:`machines`}).then(({elements:e})=>t(e.map(({name:e})=>e).reverse()),()=>void 0)}function dt(e,t,n,r){let i=N(e,[],n),a=``;return t.invoke({request:`machines`}).then(({machines:e})=>{let t=e.map(({name:e})=>({value:e,label:e}));i.offer(r===void 0?t:[{value:``,label:r},...t]),i.set(a)},()=>void 0),{element:i.element,set(e){a=e,i.set(e)}}}function ft(e){return e.trim().replace(/\s+/g,` `)}var pt=[{value:`compose`,label:`compose: A, then B`,takes:`other`},{value:`product`,label:`product: A beside B`,takes:`other`},{value:`divide`,label:`divide: A by B`,takes:`other`},{value:`invert`,label:`invert A`,takes:`nothing`},{value:`transpose`,label:`transpose A`,takes:`order`},{value:`reshape`,label:`reshape A`,takes:`shape`}];function mt(e){let t=/^\s*([A-Za-z]\w*)\s*=\s*(.*)$/s.exec(e);return t?{name:t[1],text:t[2].trim()}:void 0}function ht({name:e,text:t}){return`${e} = ${t}`}function P(e){let t=/^(\w+)\s*\(([^()]*)\)$/.exec(e.trim()),n=pt.find(({value:e})=>e===t?.[1]);if(!t||!n)return;let r=t[2].split(`,`).map(e=>e.trim()),[i=``,a=``]=r,o=/^[A-Za-z]\w*$/;if(!o.test(i))return;let s=(e,t)=>({operator:n.value,of:e,to:t});switch(n.takes){case`nothing`:return r.length===1?s([i],[]):void 0;case`other`:return r.length===2&&o.test(a)?s([i,a],[]):void 0;case`order`:{let e=a.split(/\s+/);return r.length===2&&e.every(e=>/^\d$/.test(e))?s([i],e.map(Number)):void 0}case`shape`:{let e=y(a);return r.length===2&&e?s([i],e):void 0}}}function gt({operator:e,of:t,to:n}){let r=n.length===0?[]:[e===`reshape`?n.join(`x`):n.join(` `)];return`${e}(${[...t,...r].join(`, `)})`}function _t(e,t,n=[]){let r=t.find(t=>t.name===e);if(!r)return`there is no layout named \`${e}\``;if(n.includes(e))return`\`${e}\` is made of itself: ${[...n,e].join(` of `)}`;for(let i of P(r.text)?.of??[]){let r=_t(i,t,[...n,e]);if(r)return r}}function vt(e){let t=[...`ABCDEFGHJKLMNPQRSTUVWXYZ`];return[...t,...t.map(e=>`${e}2`)].find(t=>!e.some(e=>e.name===t))??`L${e.length}`}function yt({bases:e,text:t}){return`offset`in e&&!(`lane`in e)&&/-> \[dim0/.test(t)}var bt={layouts:b(`A = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>`,`B = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>`,`S = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>`,`T = transpose(A, 1 0)`,`I = invert(S)`,`C = compose(A, I)`),shown:m(`A`),shape:v(16,16),element:m(`f32`),at:m(),see:h(`all`,`grid`,`hardware`,`matrix`)};function xt(e,t){return oe({view:`layout`,query:re(bt,{...ne(bt),layouts:e.map(ht),shown:e[0]?.name??``,...t.length>0&&{shape:t}})})}var F=(e,t,n,r)=>`#ttg.blocked<{sizePerThread = [${e.join(`, `)}], threadsPerWarp = [${t.join(`, `)}], warpsPerCTA = [${n.join(`, `)}], order = [${r.join(`, `)}]}>`,St=[{id:`accumulator`,name:`Matrix product to rows, f32`,about:`From the fragment that a tensor core produces to a layout that stores four neighbours of a row at once: lane bits swap places with register bits, so lanes exchange values in rounds.`,shape:[16,16],element:`f32`,target:`sm_80`,from:`#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>`,to:F([1,4],[8,4],[1,1],[1,0])},{id:`transpose`,name:`Rows to columns, one warp, f32`,about:`Each thread holds four neighbours of a row and needs four of a column. So many bits swap places that shared memory is cheaper than rounds of exchanges.`,shape:[16,16],element:`f32`,target:`sm_90`,from:F([1,4],[8,4],[1,1],[1,0]),to:F([4,1],[4,8],[1,1],[0,1])},{id:`warps`,name:`Rows to columns across four warps, f16`,about:`Elements go to other warps, so they pass through shared memory, swizzled so that there are no bank conflicts.`,shape:[32,64],element:`f16`,target:`sm_90`,from:F([1,8],[4,8],[4,1],[1,0]),to:F([8,1],[4,8],[1,4],[0,1])},{id:`wave64`,name:`Rows to columns on 64 lanes, f32`,about:`The same question on an AMD GPU, whose waves have 64 lanes.`,shape:[16,16],element:`f32`,target:`gfx942`,from:F([1,4],[16,4],[1,1],[1,0]),to:F([4,1],[4,16],[1,1],[0,1])},{id:`renaming`,name:`Registers in another order, f32`,about:`Every element is already in the right thread: only the names of registers change.`,shape:[8,16],element:`f32`,target:`sm_90`,from:`[register: (0,1) (1,0), lane: (0,2) (0,4) (0,8) (2,0) (4,0), warp:, block:] -> [dim0: 8, dim1: 16]`,to:`[register: (1,0) (0,1), lane: (0,2) (0,4) (0,8) (2,0) (4,0), warp:, block:] -> [dim0: 8, dim1: 16]`},{id:`figure3`,name:`The paper's figure 3, f32`,about:`A register bit and a lane bit change places: two rounds, each of which takes one register of every lane.`,shape:[8,8],element:`f32`,target:`sm_90`,from:`[register: (0,1), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 8]`,to:`[register: (1,0), lane: (2,0) (4,0) (0,1) (0,2) (0,4)] -> [dim0: 8, dim1: 8]`},{id:`equal`,name:`A slice that is a blocked row, f32`,about:`Sums of rows in a slice of a blocked tile, and the blocked layout that a store asks for: two names, one matrix, so nothing moves.`,shape:[128],element:`f32`,target:`sm_90`,from:`#ttg.slice<{dim = 1, parent = ${F([1,4],[32,1],[4,1],[1,0])}}>`,to:F([1],[32],[4],[0])}],Ct=class{element;#e;#t=C(`p.note`);#n;#r;#i;#a;#o;#s=C(`a`,{href:`#/layout`},`See both layouts as pictures`);#c;constructor(e){this.#e=N(`Example`,[...St.map(({id:e,name:t})=>({value:e,label:t})),{value:``,label:`your own`}],t=>{let n=St.find(e=>e.id===t);if(!n)return;let{shape:r,element:i,target:a,from:o,to:s}=n;e.set({shape:r,element:i,target:a,from:o,to:s})});let{engine:t}=e;this.#n=M(`Shape`,$e,t=>e.set({shape:t})),this.#r=M(`Element`,e=>st(e,t),t=>e.set({element:t}),{list:e=>ut(t,e)}),this.#i=dt(`Machine`,e.engine,t=>e.set({target:t}));let n=(e,n,r)=>M(e,e=>ct(e,this.#c?.shape??[],t),n,{lines:4,...r?{hint:r}:{},anyway:e=>n(ft(e))});this.#a=n(`From`,t=>e.set({from:t})),this.#o=n(`To`,t=>e.set({to:t}),`A Triton attribute, bases such as [register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2], or CuTe. Ctrl+Enter applies it.`);let r=()=>this.#c&&e.set({from:this.#c.to,to:this.#c.from});this.element=C(`section.card`,{"aria-label":`The conversion`},C(`header`,null,C(`h2`,null,`The conversion`)),C(`div.stack.tight`,null,this.#e.element,this.#t,C(`div.columns`,null,this.#n.element,this.#r.element,this.#i.element),this.#a.element,C(`div`,null,C(`button.quiet`,{type:`button`,onclick:r},`Swap from and to`)),this.#o.element,C(`p.note`,null,this.#s)))}update(e){this.#c=e,this.#n.set(e.shape.join(`x`)),this.#r.set(e.element),this.#i.set(e.target),this.#a.set(e.from),this.#o.set(e.to);let t=[{name:`From`,text:e.from},{name:`To`,text:e.to}];this.#s.setAttribute(`href`,xt(t,e.shape));let n=St.find(({shape:t,element:n,target:r,from:i,to:a})=>i===e.from&&a===e.to&&n===e.element&&r===e.target&&t.join()===e.shape.join());this.#e.set(n?.id??``),this.#t.textContent=n?.about??`Two layouts of your own.`}},wt=St[0],Tt={shape:v(...wt.shape),element:m(wt.element),target:m(wt.target),from:m(wt.from),to:m(wt.to),code:h(`cuda`,`ptx`,`hip`)};function I(e){return(e/100).toFixed(2)}function L(e,t){return`${e} ${t}${e===1?``:`s`}`}var Et=class{verdict=C(`section.verdicts`,{"aria-label":`The plan in short`,"aria-live":`polite`});element=C(`section.card`,{"aria-label":`The plan`});show(e,t){let{strategy:n,cost:r,bound:i,least:a,wavefronts:o,ideal_wavefronts:s}=e,c=o===s,l=(e,t,n,r=``)=>C(`span`,{class:`badge ${e?`good`:`bad`}`,"data-badge":t},C(`span`,null,t),C(`strong`,null,n),r);T(this.verdict,C(`div.badges`,null,l(!0,`by`,n),l(r<=i,`costs`,`${I(r)} cycles`,`a warp, bound ${I(i)}`),o>0&&l(c,c?`✓ banks`:`✗ banks`,L(o,`wavefront`),`of at least ${s}`),e.verified&&l(!0,`✓ witness`,`every element arrives`)));let u=C(`pre`,{tabindex:0,"aria-label":`The steps of the plan`},e.outline);T(this.element,C(`header`,null,C(`h2`,null,`What was weighed`),C(`p`,null,`${t.shape.join(` × `)} of ${t.element} on ${t.target}`)),C(`div.scroll`,{tabindex:0,role:`group`,"aria-label":`Ways to move the tensor`},this.#e(e,e.alternatives??[])),a!==void 0&&C(`p.note`,null,`No plan can cost less than ${I(a)} cycles, which it takes to bring elements to the threads and warps that lack them.`),C(`details`,null,C(`summary`,null,`The steps`),C(`div.code`,null,u)))}clear(){T(this.verdict),T(this.element),this.element.hidden=!0}#e(e,t){this.element.hidden=!1;let n=e=>C(`td.number`,null,String(e)),r=(e,t)=>C(`tr`,{class:t?`chosen`:null,"data-strategy":e.strategy},C(`th`,{scope:`row`},e.strategy,t&&` ✓`),n(I(e.cost)),n(e.instructions),n(e.shuffles),n(e.wavefronts),n(e.barriers),n(e.shared_bytes)),i=(e,t=!0)=>C(t?`th.number`:`th`,{scope:`col`},e);return C(`table.data`,null,C(`caption.spoken`,null,`The chosen way first, then the runners-up`),C(`thead`,null,C(`tr`,null,i(`way`,!1),...[`cycles`,`instructions`,`shuffles`,`wavefronts`,`barriers`,`shared bytes`].map(e=>i(e)))),C(`tbody`,null,r(e,!0),t.map(e=>r(e,!1))))}};function Dt({from:e,to:t,shape:n,element:r,target:i}){return{request:`convert`,from:e,to:t,shape:n,element:r,target:i}}function Ot(e,t){let n=ue(t);return n===`from`?e.from:n===`to`?e.to:void 0}function kt(e){return{from:`From`,to:`To`}[ue(e)??``]}function At(e,n){let r=new Ct(n),i=new Et,a=new Ye(n),o=new A({name:`A conversion, movement by movement`,pointed:e=>Ze(o,e)}),s=C(`section.card`,{"aria-label":`The movement`},C(`header`,null,C(`h2`,null,`Movement by movement`),C(`p`,null,`Point at a register or a word of memory, or walk with the arrow keys: its elements are marked wherever they pass.`)),o.element),c=C(`p.note`),l=new O;T(e,C(`div.intro.wide`,null,C(`h1`,null,`Convert`),C(`p`,null,`A tensor is held in registers in one layout and needed in another. Weft plans the movement, shows the alternatives it weighed, and writes the code.`)),C(`div.workbench`,null,C(`div.stack`,null,r.element),C(`div.stack`,null,l.element,i.verdict,i.element,s,a.element)));let u=D();return{update(e){r.update(e),a.update(e),u(async r=>{let u=Dt(e);try{let t=await n.engine.invoke(u,r.unwanted);if(!r())return;l.clear(),i.show(t,e)}catch(n){if(!r())return;if(l.show(n,t=>Ot(e,t),kt),i.clear(),o.clear(),a.clear(),!(n instanceof t))throw n;return}await Promise.all([a.show(u,r),n.engine.invoke({...u,emit:`svg`}).then(({text:e})=>{r()&&(o.show(e??``),T(s,s.firstElementChild,o.element))},e=>{r()&&(c.textContent=e instanceof t?e.fault.message:String(e),T(s,s.firstElementChild,c))})])})}}}var jt={id:`convert`,title:`Convert`,fields:Tt,mount:At};function Mt(e){let t=/^text:(\d+):\d+$/.exec(e??``)?.[1];return t===void 0?void 0:Number(t)}function Nt({count:e,bytes:t,swizzle_bytes:n}){let r=e===1?`${t} bytes`:`${e} buffers of ${t} bytes`;return n===void 0?r:n===0?`${r}, not swizzled`:`${r}, swizzled in rows of ${n} bytes`}function Pt(e){return e.replace(/\btext:(\d+):\d+/g,`line $1`)}function Ft({homes:e,products:t,movements:n,accesses:r,shared:i=[],barriers:a}){let o=new Map,s=e=>{let t=Mt(e);if(t===void 0)return;let n=o.get(t)??{homes:[],products:[],movements:[],accesses:[],shared:[],barriers:[]};return o.set(t,n),n};for(let t of e)s(t.place)?.homes.push(t);for(let e of t)s(e.place)?.products.push(e);for(let e of n)s(e.place)?.movements.push(e);for(let e of r)s(e.place)?.accesses.push(e);for(let e of i)s(e.place)?.shared.push(e);for(let e of a)s(e.place)?.barriers.push(e);return o}var It=class e{all=[];constructor(...e){for(let{homes:t,products:n,movements:r,accesses:i,shared:a=[]}of e){for(let e of t)this.#e(e.layout,e.next?.layout);for(let e of n)this.#e(e.layout,e.next?.layout);for(let{from:e,to:t}of r)this.#e(e,t);for(let e of i)this.#e(e.layout,e.next?.layout);for(let e of a)this.#e(e.layout)}}with(t){let n=new e;n.all.push(...this.all);for(let r of new e(t).all)n.#e(r);return n}of(e){let t=this.all.indexOf(e);return t<0?`?`:`L${t}`}#e(...e){for(let t of e)t!==void 0&&!this.all.includes(t)&&this.all.push(t)}};function Lt(e){return(/^tensor<((?:\d+x)+)/.exec(e)?.[1]??``).split(`x`).filter(e=>e!==``).map(Number)}function Rt(e,t){let n=t.map((e,t)=>`dim${t}: ${e}`).join(`, `);return e.startsWith(`[register`)&&e.endsWith(`-> [${n}]`)}function zt(e){return e.startsWith(`mma.`)?e.split(`.`).slice(0,2).join(`.`):`multiply-adds`}function Bt(e){return e.replace(/ loc\((?:#\w+|unknown|"[^"]*"(?::\d+:\d+|\(#\w+\))?|callsite\([^()]*\))\)/g,``)}function Vt(e){return/^#\w+ = loc\(/.test(e)}function Ht({choice:e,spent:t}){return e?.cost??t.movements+t.accesses+t.work}function Ut(e){let[,t,n]=/^(.*):(\d+):\d+$/.exec(e)??[];return t===void 0?void 0:{file:t,line:Number(n)}}var R=class{file;#e=new Map;#t;constructor(e=[]){let t=e.map(({line:e,sources:t})=>({line:e,sources:t.flatMap(e=>Ut(e)??[])})),n=new Map;for(let{sources:e}of t){let t=e.at(-1)?.file;t!==void 0&&n.set(t,(n.get(t)??0)+1)}this.file=[...n].sort(([,e],[,t])=>t-e)[0]?.[0];for(let{line:e,sources:n}of t){let t=n.find(({file:e})=>e===this.file);t&&this.#e.set(e,t.line)}this.#t=this.#e.get(e.at(-1)?.line??0)}of(e){return this.#e.get(e)}from(e){return[...this.#e].flatMap(([t,n])=>n===e?[t]:[])}shown(e,t){let n=(e,t)=>({number:e,text:t,of:this.from(e)});if(e.trim()===``)return[...new Set(this.#e.values())].sort((e,t)=>e-t).map(e=>n(e,`${this.file??``}:${e}`));let r=e.trimEnd().split(`
`),i=r.findIndex(e=>RegExp(`^def ${t}\\b`).test(e))+1,a=i>0&&this.#t!==void 0&&this.#t!==i&&this.from(i).length===0?this.#t-i:0,o=r.map((e,t)=>n(t+1+a,e)),s=o.findIndex(({text:e})=>/^(@|def )/.test(e));return Wt(o.slice(Math.max(0,s)))}};function Wt(e){return e.filter(({text:t},n)=>t.trim()!==``||n>0&&e[n-1].text.trim()!==``&&n<e.length-1)}function Gt(e){return e.split(`
`).flatMap((e,t)=>e.trim()===``||Vt(e)?[]:[{number:t+1,text:Bt(e),of:[t+1]}])}function Kt(e,t,n){return Gt(e).map(e=>{let r=t.of(e.number);return{...e,of:r===void 0?[]:n.from(r)}})}function qt(e){let t=[],n=0;return e.trimEnd().split(`
`).flatMap(e=>{let r=/^\s*\/\/ text:(\d+)$/.exec(e)?.[1];if(r!==void 0)return t=[Number(r)],[];n++;let i=/^\S/.test(e)||e.trim()===``;return[{number:n,text:e,of:i?[]:t}]})}function Jt(e,t,n,r){let i=[],a=0,o=r.split(`
`).map(e=>/^\s*\/\//.test(e)?void 0:n[a++]);return e.trimEnd().split(`
`).flatMap((e,n)=>{let[,r,a]=/^\s*\/\/## File "([^"]*)",\s*line (\d+)/.exec(e)??[];if(a!==void 0)return i=/ptx(_txt)?$/.test(r)?o[Number(a)-1]?.of??[]:t.from(Number(a)),[];let s=/^\s*(?:\/\*[0-9a-f]{4,}\*\/|[A-Z@{][\w.@!{])/.test(e);return[{number:n+1,text:e.replace(/\s*\/\* 0x[0-9a-f]{16} \*\/\s*$/,``),of:s?i:[]}]}).filter(({text:e})=>e.trim()!==``)}function Yt(e){let t=-1;for(let[,n]of e.matchAll(/\bR(\d{1,3})\b/g))t=Math.max(t,Number(n));return t<0||t>254?void 0:t+1}function Xt({lines:e=[]}){let t=e.reduce((e,{cost:t})=>e+t,0),n=new Map(e.map(({line:e,cost:t})=>[e,t]));return e=>t===0?0:e.reduce((e,t)=>e+(n.get(t)??0),0)/t}var Zt=[{id:`row_softmax`,name:`Softmax`,text:`#loc = loc("examples/row_softmax.py":16:1)
#loc7 = loc("examples/row_softmax.py":21:28)
#loc8 = loc(unknown)
#loc14 = loc("examples/row_softmax.py":22:47)
#loc18 = loc("x"(#loc))
#loc19 = loc("out"(#loc))
#loc20 = loc("n"(#loc))
#loc26 = loc("weights"(#loc7))
#loc30 = loc(callsite(#loc8 at #loc14))
#loc32 = loc(callsite(#loc8 at #loc26))
module {
  tt.func public @row_softmax(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %row = arith.constant dense<0xFF800000> : tensor<1024xf32> loc(#loc21)
    %start = tt.get_program_id x : i32 loc(#loc22)
    %start_0 = arith.muli %start, %n : i32 loc(#loc22)
    %columns = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc23)
    %mask = tt.splat %n : i32 -> tensor<1024xi32> loc(#loc24)
    %mask_1 = arith.cmpi slt, %columns, %mask : tensor<1024xi32> loc(#loc24)
    %row_2 = tt.addptr %x, %start_0 : !tt.ptr<f32>, i32 loc(#loc25)
    %row_3 = tt.splat %row_2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc25)
    %row_4 = tt.addptr %row_3, %columns : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc25)
    %row_5 = tt.load %row_4, %mask_1, %row : tensor<1024x!tt.ptr<f32>> loc(#loc21)
    %weights = "tt.reduce"(%row_5) <{axis = 0 : i32}> ({
    ^bb0(%weights_9: f32 loc(callsite(#loc8 at #loc26)), %weights_10: f32 loc(callsite(#loc8 at #loc26))):
      %weights_11 = arith.maxnumf %weights_9, %weights_10 : f32 loc(#loc34)
      tt.reduce.return %weights_11 : f32 loc(#loc31)
    }) : (tensor<1024xf32>) -> f32 loc(#loc31)
    %weights_6 = tt.splat %weights : f32 -> tensor<1024xf32> loc(#loc27)
    %weights_7 = arith.subf %row_5, %weights_6 : tensor<1024xf32> loc(#loc27)
    %weights_8 = math.exp %weights_7 : tensor<1024xf32> loc(#loc28)
    %0 = tt.addptr %out, %start_0 : !tt.ptr<f32>, i32 loc(#loc12)
    %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc12)
    %2 = tt.addptr %1, %columns : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc12)
    %3 = "tt.reduce"(%weights_8) <{axis = 0 : i32}> ({
    ^bb0(%arg3: f32 loc(callsite(#loc8 at #loc14)), %arg4: f32 loc(callsite(#loc8 at #loc14))):
      %6 = arith.addf %arg3, %arg4 : f32 loc(#loc33)
      tt.reduce.return %6 : f32 loc(#loc29)
    }) : (tensor<1024xf32>) -> f32 loc(#loc29)
    %4 = tt.splat %3 : f32 -> tensor<1024xf32> loc(#loc16)
    %5 = arith.divf %weights_8, %4 : tensor<1024xf32> loc(#loc16)
    tt.store %2, %5, %mask_1 : tensor<1024x!tt.ptr<f32>> loc(#loc17)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("examples/row_softmax.py":20:11)
#loc2 = loc("examples/row_softmax.py":17:13)
#loc3 = loc("examples/row_softmax.py":18:15)
#loc4 = loc("examples/row_softmax.py":19:12)
#loc5 = loc("examples/row_softmax.py":20:19)
#loc6 = loc("triton/language/standard.py":216:16)
#loc9 = loc("triton/language/standard.py":196:12)
#loc10 = loc("examples/row_softmax.py":21:22)
#loc11 = loc("examples/row_softmax.py":21:15)
#loc12 = loc("examples/row_softmax.py":22:14)
#loc13 = loc("triton/language/standard.py":314:12)
#loc15 = loc("triton/language/standard.py":287:12)
#loc16 = loc("examples/row_softmax.py":22:37)
#loc17 = loc("examples/row_softmax.py":22:5)
#loc21 = loc("row"(#loc1))
#loc22 = loc("start"(#loc2))
#loc23 = loc("columns"(#loc3))
#loc24 = loc("mask"(#loc4))
#loc25 = loc("row"(#loc5))
#loc27 = loc("weights"(#loc10))
#loc28 = loc("weights"(#loc11))
#loc29 = loc(callsite(#loc13 at #loc14))
#loc31 = loc(callsite(#loc6 at #loc26))
#loc33 = loc(callsite(#loc15 at #loc29))
#loc34 = loc(callsite(#loc9 at #loc31))
`,source:`"""The softmax of each row of an array with \`n <= 1024\` columns, one row a program.

The row's maximum is subtracted before \`exp\`, so that nothing overflows; columns past the end are
\`-inf\` and weigh nothing.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "row_softmax": dict(x="*fp32:16", out="*fp32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def row_softmax(x, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    row = tl.load(x + start + columns, mask=mask, other=-float("inf"))
    weights = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + start + columns, weights / tl.sum(weights, axis=0), mask=mask)
`,triton:`#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#loc = loc("examples/row_softmax.py":16:1)
#loc1 = loc(unknown)
#loc8 = loc("examples/row_softmax.py":21:28)
#loc14 = loc("examples/row_softmax.py":22:47)
#loc18 = loc("x"(#loc))
#loc19 = loc("out"(#loc))
#loc20 = loc("n"(#loc))
#loc26 = loc("weights"(#loc8))
#loc30 = loc(callsite(#loc1 at #loc14))
#loc32 = loc(callsite(#loc1 at #loc26))
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = false} {
  tt.func public @row_softmax(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<1024xf32, #blocked> loc(#loc1)
    %start = tt.get_program_id x : i32 loc(#loc21)
    %start_0 = arith.muli %start, %n : i32 loc(#loc21)
    %columns = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked> loc(#loc22)
    %mask = tt.splat %n : i32 -> tensor<1024xi32, #blocked> loc(#loc23)
    %mask_1 = arith.cmpi slt, %columns, %mask : tensor<1024xi32, #blocked> loc(#loc23)
    %row = tt.addptr %x, %start_0 : !tt.ptr<f32>, i32 loc(#loc24)
    %row_2 = tt.splat %row : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc24)
    %row_3 = tt.addptr %row_2, %columns : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked> loc(#loc24)
    %row_4 = tt.load %row_3, %mask_1, %cst : tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc25)
    %weights = "tt.reduce"(%row_4) <{axis = 0 : i32}> ({
    ^bb0(%weights_8: f32 loc(callsite(#loc1 at #loc26)), %weights_9: f32 loc(callsite(#loc1 at #loc26))):
      %weights_10 = arith.maxnumf %weights_8, %weights_9 : f32 loc(#loc34)
      tt.reduce.return %weights_10 : f32 loc(#loc31)
    }) : (tensor<1024xf32, #blocked>) -> f32 loc(#loc31)
    %weights_5 = tt.splat %weights : f32 -> tensor<1024xf32, #blocked> loc(#loc27)
    %weights_6 = arith.subf %row_4, %weights_5 : tensor<1024xf32, #blocked> loc(#loc27)
    %weights_7 = math.exp %weights_6 : tensor<1024xf32, #blocked> loc(#loc28)
    %0 = tt.addptr %out, %start_0 : !tt.ptr<f32>, i32 loc(#loc12)
    %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc12)
    %2 = tt.addptr %1, %columns : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked> loc(#loc12)
    %3 = "tt.reduce"(%weights_7) <{axis = 0 : i32}> ({
    ^bb0(%arg3: f32 loc(callsite(#loc1 at #loc14)), %arg4: f32 loc(callsite(#loc1 at #loc14))):
      %6 = arith.addf %arg3, %arg4 : f32 loc(#loc33)
      tt.reduce.return %6 : f32 loc(#loc29)
    }) : (tensor<1024xf32, #blocked>) -> f32 loc(#loc29)
    %4 = tt.splat %3 : f32 -> tensor<1024xf32, #blocked> loc(#loc16)
    %5 = arith.divf %weights_7, %4 : tensor<1024xf32, #blocked> loc(#loc16)
    tt.store %2, %5, %mask_1 : tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc17)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("examples/row_softmax.py":17:13)
#loc3 = loc("examples/row_softmax.py":18:15)
#loc4 = loc("examples/row_softmax.py":19:12)
#loc5 = loc("examples/row_softmax.py":20:19)
#loc6 = loc("examples/row_softmax.py":20:11)
#loc7 = loc("triton/language/standard.py":216:16)
#loc9 = loc("triton/language/standard.py":196:12)
#loc10 = loc("examples/row_softmax.py":21:22)
#loc11 = loc("examples/row_softmax.py":21:15)
#loc12 = loc("examples/row_softmax.py":22:14)
#loc13 = loc("triton/language/standard.py":314:12)
#loc15 = loc("triton/language/standard.py":287:12)
#loc16 = loc("examples/row_softmax.py":22:37)
#loc17 = loc("examples/row_softmax.py":22:5)
#loc21 = loc("start"(#loc2))
#loc22 = loc("columns"(#loc3))
#loc23 = loc("mask"(#loc4))
#loc24 = loc("row"(#loc5))
#loc25 = loc("row"(#loc6))
#loc27 = loc("weights"(#loc10))
#loc28 = loc("weights"(#loc11))
#loc29 = loc(callsite(#loc13 at #loc14))
#loc31 = loc(callsite(#loc7 at #loc26))
#loc33 = loc(callsite(#loc15 at #loc29))
#loc34 = loc(callsite(#loc9 at #loc31))
`,teaches:`One row, two reductions. Every value keeps one layout; only the partial results of four warps meet in shared memory.`,grid:`4`,args:`x=random:f32[4x1024] out=empty:f32[4x1024] n=1024`},{id:`tiled_transpose`,name:`Transpose`,text:`#loc = loc("examples/tiled_transpose.py":16:1)
#loc18 = loc("x"(#loc))
#loc19 = loc("out"(#loc))
#loc20 = loc("m"(#loc))
#loc21 = loc("n"(#loc))
module {
  tt.func public @tiled_transpose(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), %m: i32 {tt.divisibility = 16 : i32} loc("m"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32 loc(#loc1)
    %rows = tt.get_program_id x : i32 loc(#loc22)
    %rows_0 = arith.muli %rows, %c64_i32 : i32 loc(#loc22)
    %rows_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc23)
    %rows_2 = tt.splat %rows_0 : i32 -> tensor<64xi32> loc(#loc22)
    %rows_3 = arith.addi %rows_2, %rows_1 : tensor<64xi32> loc(#loc22)
    %columns = tt.get_program_id y : i32 loc(#loc24)
    %columns_4 = arith.muli %columns, %c64_i32 : i32 loc(#loc24)
    %columns_5 = tt.splat %columns_4 : i32 -> tensor<64xi32> loc(#loc24)
    %columns_6 = arith.addi %columns_5, %rows_1 : tensor<64xi32> loc(#loc24)
    %loaded = tt.expand_dims %rows_3 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc25)
    %loaded_7 = tt.splat %m : i32 -> tensor<64x1xi32> loc(#loc25)
    %loaded_8 = arith.cmpi slt, %loaded, %loaded_7 : tensor<64x1xi32> loc(#loc25)
    %loaded_9 = tt.expand_dims %columns_6 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32> loc(#loc26)
    %loaded_10 = tt.splat %n : i32 -> tensor<1x64xi32> loc(#loc26)
    %loaded_11 = arith.cmpi slt, %loaded_9, %loaded_10 : tensor<1x64xi32> loc(#loc26)
    %loaded_12 = tt.broadcast %loaded_8 : tensor<64x1xi1> -> tensor<64x64xi1> loc(#loc27)
    %loaded_13 = tt.broadcast %loaded_11 : tensor<1x64xi1> -> tensor<64x64xi1> loc(#loc27)
    %loaded_14 = arith.andi %loaded_12, %loaded_13 : tensor<64x64xi1> loc(#loc27)
    %loaded_15 = tt.splat %n : i32 -> tensor<64x1xi32> loc(#loc28)
    %loaded_16 = arith.muli %loaded, %loaded_15 : tensor<64x1xi32> loc(#loc28)
    %loaded_17 = tt.splat %x : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>> loc(#loc29)
    %loaded_18 = tt.addptr %loaded_17, %loaded_16 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32> loc(#loc29)
    %loaded_19 = tt.broadcast %loaded_18 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>> loc(#loc29)
    %loaded_20 = tt.broadcast %loaded_9 : tensor<1x64xi32> -> tensor<64x64xi32> loc(#loc29)
    %loaded_21 = tt.addptr %loaded_19, %loaded_20 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32> loc(#loc29)
    %loaded_22 = tt.load %loaded_21, %loaded_14 : tensor<64x64x!tt.ptr<f32>> loc(#loc30)
    %0 = tt.expand_dims %columns_6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc11)
    %1 = arith.cmpi slt, %0, %loaded_15 : tensor<64x1xi32> loc(#loc11)
    %2 = tt.expand_dims %rows_3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32> loc(#loc12)
    %3 = tt.splat %m : i32 -> tensor<1x64xi32> loc(#loc12)
    %4 = arith.cmpi slt, %2, %3 : tensor<1x64xi32> loc(#loc12)
    %5 = tt.broadcast %1 : tensor<64x1xi1> -> tensor<64x64xi1> loc(#loc13)
    %6 = tt.broadcast %4 : tensor<1x64xi1> -> tensor<64x64xi1> loc(#loc13)
    %7 = arith.andi %5, %6 : tensor<64x64xi1> loc(#loc13)
    %8 = arith.muli %0, %loaded_7 : tensor<64x1xi32> loc(#loc14)
    %9 = tt.splat %out : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>> loc(#loc15)
    %10 = tt.addptr %9, %8 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32> loc(#loc15)
    %11 = tt.broadcast %10 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>> loc(#loc15)
    %12 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32> loc(#loc15)
    %13 = tt.addptr %11, %12 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32> loc(#loc15)
    %14 = tt.trans %loaded_22 {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32> loc(#loc16)
    tt.store %13, %14, %7 : tensor<64x64x!tt.ptr<f32>> loc(#loc17)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("examples/tiled_transpose.py":17:12)
#loc3 = loc("examples/tiled_transpose.py":17:38)
#loc4 = loc("examples/tiled_transpose.py":18:15)
#loc5 = loc("examples/tiled_transpose.py":21:15)
#loc6 = loc("examples/tiled_transpose.py":21:37)
#loc7 = loc("examples/tiled_transpose.py":21:14)
#loc8 = loc("examples/tiled_transpose.py":20:13)
#loc9 = loc("examples/tiled_transpose.py":20:9)
#loc10 = loc("examples/tiled_transpose.py":19:14)
#loc11 = loc("examples/tiled_transpose.py":26:15)
#loc12 = loc("examples/tiled_transpose.py":26:40)
#loc13 = loc("examples/tiled_transpose.py":26:14)
#loc14 = loc("examples/tiled_transpose.py":24:15)
#loc15 = loc("examples/tiled_transpose.py":24:9)
#loc16 = loc("examples/tiled_transpose.py":25:9)
#loc17 = loc("examples/tiled_transpose.py":23:5)
#loc22 = loc("rows"(#loc2))
#loc23 = loc("rows"(#loc3))
#loc24 = loc("columns"(#loc4))
#loc25 = loc("loaded"(#loc5))
#loc26 = loc("loaded"(#loc6))
#loc27 = loc("loaded"(#loc7))
#loc28 = loc("loaded"(#loc8))
#loc29 = loc("loaded"(#loc9))
#loc30 = loc("loaded"(#loc10))
`,source:`"""\`out[j, i] = x[i, j]\` for an \`m\` by \`n\` array, a tile of 64x64 elements a program.

The tile is loaded along the rows of \`x\` and stored along the rows of \`out\`, so that both sides of
global memory are coalesced; the data changes hands between the two, through shared memory.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "tiled_transpose": dict(x="*fp32:16", out="*fp32:16", m="i32:16", n="i32:16", TILE=64),
}


@triton.jit
def tiled_transpose(x, out, m, n, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    loaded = tl.load(
        x + rows[:, None] * n + columns[None, :],
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )
    tl.store(
        out + columns[:, None] * m + rows[None, :],
        tl.trans(loaded),
        mask=(columns[:, None] < n) & (rows[None, :] < m),
    )
`,triton:`#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#loc = loc("examples/tiled_transpose.py":16:1)
#loc18 = loc("x"(#loc))
#loc19 = loc("out"(#loc))
#loc20 = loc("m"(#loc))
#loc21 = loc("n"(#loc))
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = false} {
  tt.func public @tiled_transpose(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), %m: i32 {tt.divisibility = 16 : i32} loc("m"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32 loc(#loc1)
    %rows = tt.get_program_id x : i32 loc(#loc22)
    %rows_0 = arith.muli %rows, %c64_i32 : i32 loc(#loc22)
    %rows_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> loc(#loc23)
    %rows_2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> loc(#loc23)
    %rows_3 = tt.splat %rows_0 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> loc(#loc22)
    %rows_4 = tt.splat %rows_0 : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> loc(#loc22)
    %rows_5 = arith.addi %rows_3, %rows_1 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> loc(#loc22)
    %rows_6 = arith.addi %rows_4, %rows_2 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> loc(#loc22)
    %columns = tt.get_program_id y : i32 loc(#loc24)
    %columns_7 = arith.muli %columns, %c64_i32 : i32 loc(#loc24)
    %columns_8 = tt.splat %columns_7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> loc(#loc24)
    %columns_9 = tt.splat %columns_7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> loc(#loc24)
    %columns_10 = arith.addi %columns_8, %rows_2 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> loc(#loc24)
    %columns_11 = arith.addi %columns_9, %rows_1 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> loc(#loc24)
    %loaded = tt.expand_dims %rows_5 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked> loc(#loc25)
    %loaded_12 = tt.splat %m : i32 -> tensor<64x1xi32, #blocked> loc(#loc25)
    %loaded_13 = arith.cmpi slt, %loaded, %loaded_12 : tensor<64x1xi32, #blocked> loc(#loc25)
    %loaded_14 = tt.expand_dims %columns_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked> loc(#loc26)
    %loaded_15 = tt.splat %n : i32 -> tensor<1x64xi32, #blocked> loc(#loc26)
    %loaded_16 = arith.cmpi slt, %loaded_14, %loaded_15 : tensor<1x64xi32, #blocked> loc(#loc26)
    %loaded_17 = tt.broadcast %loaded_13 : tensor<64x1xi1, #blocked> -> tensor<64x64xi1, #blocked> loc(#loc27)
    %loaded_18 = tt.broadcast %loaded_16 : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked> loc(#loc27)
    %loaded_19 = arith.andi %loaded_17, %loaded_18 : tensor<64x64xi1, #blocked> loc(#loc27)
    %loaded_20 = tt.splat %n : i32 -> tensor<64x1xi32, #blocked> loc(#loc28)
    %loaded_21 = arith.muli %loaded, %loaded_20 : tensor<64x1xi32, #blocked> loc(#loc28)
    %loaded_22 = tt.splat %x : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>, #blocked> loc(#loc29)
    %loaded_23 = tt.addptr %loaded_22, %loaded_21 : tensor<64x1x!tt.ptr<f32>, #blocked>, tensor<64x1xi32, #blocked> loc(#loc29)
    %loaded_24 = tt.broadcast %loaded_23 : tensor<64x1x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #blocked> loc(#loc29)
    %loaded_25 = tt.broadcast %loaded_14 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked> loc(#loc29)
    %loaded_26 = tt.addptr %loaded_24, %loaded_25 : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked> loc(#loc29)
    %loaded_27 = tt.load %loaded_26, %loaded_19 : tensor<64x64x!tt.ptr<f32>, #blocked> loc(#loc30)
    %0 = tt.trans %loaded_27 {order = array<i32: 1, 0>} : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #blocked1> loc(#loc11)
    %1 = tt.expand_dims %columns_11 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked> loc(#loc12)
    %2 = arith.cmpi slt, %1, %loaded_20 : tensor<64x1xi32, #blocked> loc(#loc12)
    %3 = tt.expand_dims %rows_6 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked> loc(#loc13)
    %4 = tt.splat %m : i32 -> tensor<1x64xi32, #blocked> loc(#loc13)
    %5 = arith.cmpi slt, %3, %4 : tensor<1x64xi32, #blocked> loc(#loc13)
    %6 = tt.broadcast %2 : tensor<64x1xi1, #blocked> -> tensor<64x64xi1, #blocked> loc(#loc14)
    %7 = tt.broadcast %5 : tensor<1x64xi1, #blocked> -> tensor<64x64xi1, #blocked> loc(#loc14)
    %8 = arith.andi %6, %7 : tensor<64x64xi1, #blocked> loc(#loc14)
    %9 = arith.muli %1, %loaded_12 : tensor<64x1xi32, #blocked> loc(#loc15)
    %10 = tt.splat %out : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>, #blocked> loc(#loc16)
    %11 = tt.addptr %10, %9 : tensor<64x1x!tt.ptr<f32>, #blocked>, tensor<64x1xi32, #blocked> loc(#loc16)
    %12 = tt.broadcast %11 : tensor<64x1x!tt.ptr<f32>, #blocked> -> tensor<64x64x!tt.ptr<f32>, #blocked> loc(#loc16)
    %13 = tt.broadcast %3 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked> loc(#loc16)
    %14 = tt.addptr %12, %13 : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked> loc(#loc16)
    %15 = ttg.convert_layout %0 : tensor<64x64xf32, #blocked1> -> tensor<64x64xf32, #blocked> loc(#loc17)
    tt.store %14, %15, %8 : tensor<64x64x!tt.ptr<f32>, #blocked> loc(#loc17)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("examples/tiled_transpose.py":17:12)
#loc3 = loc("examples/tiled_transpose.py":17:38)
#loc4 = loc("examples/tiled_transpose.py":18:15)
#loc5 = loc("examples/tiled_transpose.py":21:15)
#loc6 = loc("examples/tiled_transpose.py":21:37)
#loc7 = loc("examples/tiled_transpose.py":21:14)
#loc8 = loc("examples/tiled_transpose.py":20:13)
#loc9 = loc("examples/tiled_transpose.py":20:9)
#loc10 = loc("examples/tiled_transpose.py":19:14)
#loc11 = loc("examples/tiled_transpose.py":25:9)
#loc12 = loc("examples/tiled_transpose.py":26:15)
#loc13 = loc("examples/tiled_transpose.py":26:40)
#loc14 = loc("examples/tiled_transpose.py":26:14)
#loc15 = loc("examples/tiled_transpose.py":24:15)
#loc16 = loc("examples/tiled_transpose.py":24:9)
#loc17 = loc("examples/tiled_transpose.py":23:5)
#loc22 = loc("rows"(#loc2))
#loc23 = loc("rows"(#loc3))
#loc24 = loc("columns"(#loc4))
#loc25 = loc("loaded"(#loc5))
#loc26 = loc("loaded"(#loc6))
#loc27 = loc("loaded"(#loc7))
#loc28 = loc("loaded"(#loc8))
#loc29 = loc("loaded"(#loc9))
#loc30 = loc("loaded"(#loc10))
`,teaches:`Rows are loaded and columns are stored, each 16 bytes a lane. Between the two the tile passes a swizzled shared memory without a conflict.`,grid:`2x2`,args:`x=random:f32[128x128] out=empty:f32[128x128] m=128 n=128`},{id:`matmul`,name:`Matmul`,text:`#loc = loc("examples/matmul.py":19:1)
#loc32 = loc("a"(#loc))
#loc33 = loc("b"(#loc))
#loc34 = loc("c"(#loc))
#loc35 = loc("m"(#loc))
#loc36 = loc("n"(#loc))
#loc37 = loc("k"(#loc))
module {
  tt.func public @matmul(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("a"(#loc)), %b: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("b"(#loc)), %c: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("c"(#loc)), %m: i32 {tt.divisibility = 16 : i32} loc("m"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc)), %k: i32 {tt.divisibility = 16 : i32} loc("k"(#loc))) attributes {noinline = false} {
    %total = arith.constant dense<0.000000e+00> : tensor<64x64xf32> loc(#loc61)
    %c16_i32 = arith.constant 16 : i32 loc(#loc3)
    %c0_i32 = arith.constant 0 : i32 loc(#loc3)
    %cst = arith.constant dense<0.000000e+00> : tensor<16x64xf32> loc(#loc4)
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x16xf32> loc(#loc4)
    %c64_i32 = arith.constant 64 : i32 loc(#loc4)
    %rows = tt.get_program_id x : i32 loc(#loc39)
    %rows_1 = arith.muli %rows, %c64_i32 : i32 loc(#loc39)
    %rows_2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc40)
    %rows_3 = tt.expand_dims %rows_2 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc40)
    %rows_4 = tt.splat %rows_1 : i32 -> tensor<64x1xi32> loc(#loc39)
    %rows_5 = arith.addi %rows_4, %rows_3 : tensor<64x1xi32> loc(#loc39)
    %columns = tt.get_program_id y : i32 loc(#loc41)
    %columns_6 = arith.muli %columns, %c64_i32 : i32 loc(#loc41)
    %columns_7 = tt.expand_dims %rows_2 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32> loc(#loc42)
    %columns_8 = tt.splat %columns_6 : i32 -> tensor<1x64xi32> loc(#loc41)
    %columns_9 = arith.addi %columns_8, %columns_7 : tensor<1x64xi32> loc(#loc41)
    %total_10 = scf.for %start = %c0_i32 to %k step %c16_i32 iter_args(%total_11 = %total) -> (tensor<64x64xf32>)  : i32 {
      %inner_a = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32> loc(#loc44)
      %inner_a_12 = tt.expand_dims %inner_a {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32> loc(#loc44)
      %inner_a_13 = tt.splat %start : i32 -> tensor<1x16xi32> loc(#loc45)
      %inner_a_14 = arith.addi %inner_a_13, %inner_a_12 : tensor<1x16xi32> loc(#loc45)
      %inner_b = tt.expand_dims %inner_a {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32> loc(#loc46)
      %inner_b_15 = tt.splat %start : i32 -> tensor<16x1xi32> loc(#loc47)
      %inner_b_16 = arith.addi %inner_b_15, %inner_b : tensor<16x1xi32> loc(#loc47)
      %tile_a = tt.splat %m : i32 -> tensor<64x1xi32> loc(#loc48)
      %tile_a_17 = arith.cmpi slt, %rows_5, %tile_a : tensor<64x1xi32> loc(#loc48)
      %tile_a_18 = tt.splat %k : i32 -> tensor<1x16xi32> loc(#loc49)
      %tile_a_19 = arith.cmpi slt, %inner_a_14, %tile_a_18 : tensor<1x16xi32> loc(#loc49)
      %tile_a_20 = tt.broadcast %tile_a_17 : tensor<64x1xi1> -> tensor<64x16xi1> loc(#loc50)
      %tile_a_21 = tt.broadcast %tile_a_19 : tensor<1x16xi1> -> tensor<64x16xi1> loc(#loc50)
      %tile_a_22 = arith.andi %tile_a_20, %tile_a_21 : tensor<64x16xi1> loc(#loc50)
      %tile_a_23 = tt.splat %k : i32 -> tensor<64x1xi32> loc(#loc51)
      %tile_a_24 = arith.muli %rows_5, %tile_a_23 : tensor<64x1xi32> loc(#loc51)
      %tile_a_25 = tt.splat %a : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>> loc(#loc52)
      %tile_a_26 = tt.addptr %tile_a_25, %tile_a_24 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32> loc(#loc52)
      %tile_a_27 = tt.broadcast %tile_a_26 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x16x!tt.ptr<f32>> loc(#loc52)
      %tile_a_28 = tt.broadcast %inner_a_14 : tensor<1x16xi32> -> tensor<64x16xi32> loc(#loc52)
      %tile_a_29 = tt.addptr %tile_a_27, %tile_a_28 : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32> loc(#loc52)
      %tile_a_30 = tt.load %tile_a_29, %tile_a_22, %cst_0 : tensor<64x16x!tt.ptr<f32>> loc(#loc53)
      %tile_b = tt.splat %k : i32 -> tensor<16x1xi32> loc(#loc54)
      %tile_b_31 = arith.cmpi slt, %inner_b_16, %tile_b : tensor<16x1xi32> loc(#loc54)
      %tile_b_32 = tt.splat %n : i32 -> tensor<1x64xi32> loc(#loc55)
      %tile_b_33 = arith.cmpi slt, %columns_9, %tile_b_32 : tensor<1x64xi32> loc(#loc55)
      %tile_b_34 = tt.broadcast %tile_b_31 : tensor<16x1xi1> -> tensor<16x64xi1> loc(#loc56)
      %tile_b_35 = tt.broadcast %tile_b_33 : tensor<1x64xi1> -> tensor<16x64xi1> loc(#loc56)
      %tile_b_36 = arith.andi %tile_b_34, %tile_b_35 : tensor<16x64xi1> loc(#loc56)
      %tile_b_37 = tt.splat %n : i32 -> tensor<16x1xi32> loc(#loc57)
      %tile_b_38 = arith.muli %inner_b_16, %tile_b_37 : tensor<16x1xi32> loc(#loc57)
      %tile_b_39 = tt.splat %b : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>> loc(#loc58)
      %tile_b_40 = tt.addptr %tile_b_39, %tile_b_38 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32> loc(#loc58)
      %tile_b_41 = tt.broadcast %tile_b_40 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x64x!tt.ptr<f32>> loc(#loc58)
      %tile_b_42 = tt.broadcast %columns_9 : tensor<1x64xi32> -> tensor<16x64xi32> loc(#loc58)
      %tile_b_43 = tt.addptr %tile_b_41, %tile_b_42 : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32> loc(#loc58)
      %tile_b_44 = tt.load %tile_b_43, %tile_b_36, %cst : tensor<16x64x!tt.ptr<f32>> loc(#loc59)
      %total_45 = tt.dot %tile_a_30, %tile_b_44, %total_11 : tensor<64x16xf32> * tensor<16x64xf32> -> tensor<64x64xf32> loc(#loc60)
      scf.yield %total_45 : tensor<64x64xf32> loc(#loc3)
    } loc(#loc43)
    %0 = tt.splat %m : i32 -> tensor<64x1xi32> loc(#loc26)
    %1 = arith.cmpi slt, %rows_5, %0 : tensor<64x1xi32> loc(#loc26)
    %2 = tt.splat %n : i32 -> tensor<1x64xi32> loc(#loc27)
    %3 = arith.cmpi slt, %columns_9, %2 : tensor<1x64xi32> loc(#loc27)
    %4 = tt.broadcast %1 : tensor<64x1xi1> -> tensor<64x64xi1> loc(#loc28)
    %5 = tt.broadcast %3 : tensor<1x64xi1> -> tensor<64x64xi1> loc(#loc28)
    %6 = arith.andi %4, %5 : tensor<64x64xi1> loc(#loc28)
    %7 = tt.splat %n : i32 -> tensor<64x1xi32> loc(#loc29)
    %8 = arith.muli %rows_5, %7 : tensor<64x1xi32> loc(#loc29)
    %9 = tt.splat %c : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>> loc(#loc30)
    %10 = tt.addptr %9, %8 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32> loc(#loc30)
    %11 = tt.broadcast %10 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>> loc(#loc30)
    %12 = tt.broadcast %columns_9 : tensor<1x64xi32> -> tensor<64x64xi32> loc(#loc30)
    %13 = tt.addptr %11, %12 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32> loc(#loc30)
    tt.store %13, %total_10, %6 : tensor<64x64x!tt.ptr<f32>> loc(#loc31)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("triton/language/standard.py":155:12)
#loc2 = loc("examples/matmul.py":22:13)
#loc3 = loc("examples/matmul.py":23:5)
#loc4 = loc(unknown)
#loc5 = loc("examples/matmul.py":20:12)
#loc6 = loc("examples/matmul.py":20:40)
#loc7 = loc("examples/matmul.py":21:15)
#loc8 = loc("examples/matmul.py":21:43)
#loc9 = loc("examples/matmul.py":24:27)
#loc10 = loc("examples/matmul.py":24:19)
#loc11 = loc("examples/matmul.py":25:27)
#loc12 = loc("examples/matmul.py":25:19)
#loc13 = loc("examples/matmul.py":26:56)
#loc14 = loc("examples/matmul.py":26:69)
#loc15 = loc("examples/matmul.py":26:55)
#loc16 = loc("examples/matmul.py":26:30)
#loc17 = loc("examples/matmul.py":26:26)
#loc18 = loc("examples/matmul.py":26:18)
#loc19 = loc("examples/matmul.py":27:59)
#loc20 = loc("examples/matmul.py":27:75)
#loc21 = loc("examples/matmul.py":27:58)
#loc22 = loc("examples/matmul.py":27:30)
#loc23 = loc("examples/matmul.py":27:26)
#loc24 = loc("examples/matmul.py":27:18)
#loc25 = loc("examples/matmul.py":28:17)
#loc26 = loc("examples/matmul.py":29:51)
#loc27 = loc("examples/matmul.py":29:64)
#loc28 = loc("examples/matmul.py":29:50)
#loc29 = loc("examples/matmul.py":29:18)
#loc30 = loc("examples/matmul.py":29:14)
#loc31 = loc("examples/matmul.py":29:5)
#loc38 = loc("total"(#loc2))
#loc39 = loc("rows"(#loc5))
#loc40 = loc("rows"(#loc6))
#loc41 = loc("columns"(#loc7))
#loc42 = loc("columns"(#loc8))
#loc43 = loc("total"(#loc3))
#loc44 = loc("inner_a"(#loc9))
#loc45 = loc("inner_a"(#loc10))
#loc46 = loc("inner_b"(#loc11))
#loc47 = loc("inner_b"(#loc12))
#loc48 = loc("tile_a"(#loc13))
#loc49 = loc("tile_a"(#loc14))
#loc50 = loc("tile_a"(#loc15))
#loc51 = loc("tile_a"(#loc16))
#loc52 = loc("tile_a"(#loc17))
#loc53 = loc("tile_a"(#loc18))
#loc54 = loc("tile_b"(#loc19))
#loc55 = loc("tile_b"(#loc20))
#loc56 = loc("tile_b"(#loc21))
#loc57 = loc("tile_b"(#loc22))
#loc58 = loc("tile_b"(#loc23))
#loc59 = loc("tile_b"(#loc24))
#loc60 = loc("total"(#loc25))
#loc61 = loc(callsite(#loc1 at #loc38))
`,source:`"""\`c = a @ b\` for row-major \`a\` (m by k) and \`b\` (k by n), a 64x64 tile of \`c\` a program.

The loop takes 16 columns of \`a\` and 16 rows of \`b\` at a time; what lies outside the arrays is
read as zero.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "matmul": dict(
        a="*fp32:16", b="*fp32:16", c="*fp32:16", m="i32:16", n="i32:16", k="i32:16",
        TILE_M=64, TILE_N=64, TILE_K=16,
    ),
}  # fmt: skip


@triton.jit
def matmul(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        inner_a = start + tl.arange(0, TILE_K)[None, :]
        inner_b = start + tl.arange(0, TILE_K)[:, None]
        tile_a = tl.load(a + rows * k + inner_a, mask=(rows < m) & (inner_a < k), other=0.0)
        tile_b = tl.load(b + inner_b * n + columns, mask=(inner_b < k) & (columns < n), other=0.0)
        total = tl.dot(tile_a, tile_b, total, input_precision="ieee")
    tl.store(c + rows * n + columns, total, mask=(rows < m) & (columns < n))
`,teaches:`Both tiles are copied ahead into a ring of swizzled shared memory, with one barrier a round. Pin the product's sum to another layout and see what that costs.`,grid:`1x1`,args:`a=random:f32[64x64] b=random:f32[64x64] c=empty:f32[64x64] m=64 n=64 k=64`},{id:`attention_f16`,name:`Attention`,text:`#loc = loc("kernels/tensor_cores.py":129:1)
#loc3 = loc("kernels/tensor_cores.py":131:5)
#loc5 = loc(unknown)
#loc21 = loc("kernels/tensor_cores.py":118:43)
#loc31 = loc("kernels/tensor_cores.py":121:33)
#loc45 = loc("q"(#loc))
#loc46 = loc("k"(#loc))
#loc47 = loc("v"(#loc))
#loc48 = loc("out"(#loc))
#loc49 = loc("n"(#loc))
#loc68 = loc("new_largest"(#loc21))
#loc76 = loc("total"(#loc31))
#loc105 = loc(callsite(#loc68 at #loc3))
#loc113 = loc(callsite(#loc76 at #loc3))
#loc124 = loc(callsite(#loc5 at #loc105))
#loc126 = loc(callsite(#loc5 at #loc113))
module {
  tt.func public @attention_f16(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("q"(#loc)), %k: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("k"(#loc)), %v: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("v"(#loc)), %out: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("out"(#loc)), %n: i32 loc("n"(#loc))) attributes {noinline = false} {
    %total = arith.constant dense<0.000000e+00> : tensor<64xf32> loc(#loc121)
    %c32_i32 = arith.constant 32 : i32 loc(#loc51)
    %c0_i32 = arith.constant 0 : i32 loc(#loc51)
    %cst = arith.constant dense<32> : tensor<32x1xi32> loc(#loc52)
    %cst_0 = arith.constant dense<0.176776692> : tensor<64x32xf32> loc(#loc52)
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf32> loc(#loc52)
    %cst_2 = arith.constant dense<32> : tensor<1x32xi32> loc(#loc52)
    %largest = arith.constant dense<0xFF800000> : tensor<64xf32> loc(#loc90)
    %cst_3 = arith.constant dense<32> : tensor<64x1xi32> loc(#loc52)
    %rows = arith.constant 64 : i32 loc(#loc91)
    %rows_4 = tt.get_program_id x : i32 loc(#loc91)
    %rows_5 = arith.muli %rows_4, %rows : i32 loc(#loc91)
    %rows_6 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc92)
    %rows_7 = tt.splat %rows_5 : i32 -> tensor<64xi32> loc(#loc91)
    %rows_8 = arith.addi %rows_7, %rows_6 : tensor<64xi32> loc(#loc91)
    %depth = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32> loc(#loc93)
    %query = tt.expand_dims %rows_8 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc94)
    %query_9 = arith.muli %query, %cst_3 : tensor<64x1xi32> loc(#loc94)
    %query_10 = tt.splat %q : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>> loc(#loc95)
    %query_11 = tt.addptr %query_10, %query_9 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32> loc(#loc95)
    %query_12 = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32> loc(#loc96)
    %query_13 = tt.broadcast %query_11 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>> loc(#loc95)
    %query_14 = tt.broadcast %query_12 : tensor<1x32xi32> -> tensor<64x32xi32> loc(#loc95)
    %query_15 = tt.addptr %query_13, %query_14 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32> loc(#loc95)
    %query_16 = tt.load %query_15 : tensor<64x32x!tt.ptr<f16>> loc(#loc97)
    %sums:3 = scf.for %start = %c0_i32 to %n step %c32_i32 iter_args(%largest_17 = %largest, %total_18 = %total, %sums_19 = %cst_1) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>)  : i32 {
      %columns = tt.splat %start : i32 -> tensor<32xi32> loc(#loc99)
      %columns_20 = arith.addi %columns, %depth : tensor<32xi32> loc(#loc99)
      %keys = tt.expand_dims %columns_20 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32> loc(#loc100)
      %keys_21 = arith.muli %keys, %cst_2 : tensor<1x32xi32> loc(#loc100)
      %keys_22 = tt.splat %k : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>> loc(#loc101)
      %keys_23 = tt.addptr %keys_22, %keys_21 : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32> loc(#loc101)
      %keys_24 = tt.expand_dims %depth {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32> loc(#loc102)
      %keys_25 = tt.broadcast %keys_23 : tensor<1x32x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>> loc(#loc101)
      %keys_26 = tt.broadcast %keys_24 : tensor<32x1xi32> -> tensor<32x32xi32> loc(#loc101)
      %keys_27 = tt.addptr %keys_25, %keys_26 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32> loc(#loc101)
      %keys_28 = tt.load %keys_27 : tensor<32x32x!tt.ptr<f16>> loc(#loc103)
      %scores = tt.dot %query_16, %keys_28, %cst_1, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32> loc(#loc104)
      %scores_29 = arith.mulf %scores, %cst_0 : tensor<64x32xf32> loc(#loc104)
      %new_largest = "tt.reduce"(%scores_29) <{axis = 1 : i32}> ({
      ^bb0(%new_largest_50: f32 loc(callsite(#loc5 at #loc105)), %new_largest_51: f32 loc(callsite(#loc5 at #loc105))):
        %new_largest_52 = arith.maxnumf %new_largest_50, %new_largest_51 : f32 loc(#loc128)
        tt.reduce.return %new_largest_52 : f32 loc(#loc123)
      }) : (tensor<64x32xf32>) -> tensor<64xf32> loc(#loc123)
      %new_largest_30 = arith.maxnumf %largest_17, %new_largest : tensor<64xf32> loc(#loc106)
      %weights = tt.expand_dims %new_largest_30 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32> loc(#loc107)
      %weights_31 = tt.broadcast %weights : tensor<64x1xf32> -> tensor<64x32xf32> loc(#loc108)
      %weights_32 = arith.subf %scores_29, %weights_31 : tensor<64x32xf32> loc(#loc108)
      %weights_33 = math.exp %weights_32 : tensor<64x32xf32> loc(#loc109)
      %scale = arith.subf %largest_17, %new_largest_30 : tensor<64xf32> loc(#loc110)
      %scale_34 = math.exp %scale : tensor<64xf32> loc(#loc111)
      %total_35 = arith.mulf %total_18, %scale_34 : tensor<64xf32> loc(#loc112)
      %total_36 = "tt.reduce"(%weights_33) <{axis = 1 : i32}> ({
      ^bb0(%total_50: f32 loc(callsite(#loc5 at #loc113)), %total_51: f32 loc(callsite(#loc5 at #loc113))):
        %total_52 = arith.addf %total_50, %total_51 : f32 loc(#loc129)
        tt.reduce.return %total_52 : f32 loc(#loc125)
      }) : (tensor<64x32xf32>) -> tensor<64xf32> loc(#loc125)
      %total_37 = arith.addf %total_35, %total_36 : tensor<64xf32> loc(#loc112)
      %values = tt.expand_dims %columns_20 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32> loc(#loc114)
      %values_38 = arith.muli %values, %cst : tensor<32x1xi32> loc(#loc114)
      %values_39 = tt.splat %v : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>> loc(#loc115)
      %values_40 = tt.addptr %values_39, %values_38 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32> loc(#loc115)
      %values_41 = tt.broadcast %values_40 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>> loc(#loc115)
      %values_42 = tt.broadcast %query_12 : tensor<1x32xi32> -> tensor<32x32xi32> loc(#loc115)
      %values_43 = tt.addptr %values_41, %values_42 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32> loc(#loc115)
      %values_44 = tt.load %values_43 : tensor<32x32x!tt.ptr<f16>> loc(#loc116)
      %sums_45 = arith.truncf %weights_33 : tensor<64x32xf32> to tensor<64x32xf16> loc(#loc117)
      %sums_46 = tt.expand_dims %scale_34 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32> loc(#loc118)
      %sums_47 = tt.broadcast %sums_46 : tensor<64x1xf32> -> tensor<64x32xf32> loc(#loc119)
      %sums_48 = arith.mulf %sums_19, %sums_47 : tensor<64x32xf32> loc(#loc119)
      %sums_49 = tt.dot %sums_45, %values_44, %sums_48, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32> loc(#loc120)
      scf.yield %new_largest_30, %total_37, %sums_49 : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32> loc(#loc51)
    } loc(#loc127)
    %0 = tt.splat %out : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>> loc(#loc84)
    %1 = tt.addptr %0, %query_9 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32> loc(#loc84)
    %2 = tt.broadcast %1 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>> loc(#loc84)
    %3 = tt.addptr %2, %query_14 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32> loc(#loc84)
    %4 = tt.expand_dims %sums#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32> loc(#loc85)
    %5 = tt.broadcast %4 : tensor<64x1xf32> -> tensor<64x32xf32> loc(#loc86)
    %6 = arith.divf %sums#2, %5 : tensor<64x32xf32> loc(#loc86)
    %7 = arith.truncf %6 : tensor<64x32xf32> to tensor<64x32xf16> loc(#loc87)
    tt.store %3, %7 : tensor<64x32x!tt.ptr<f16>> loc(#loc88)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("triton/language/standard.py":155:12)
#loc2 = loc("kernels/tensor_cores.py":112:13)
#loc4 = loc("kernels/tensor_cores.py":114:5)
#loc6 = loc("kernels/tensor_cores.py":111:15)
#loc7 = loc("kernels/tensor_cores.py":108:12)
#loc8 = loc("kernels/tensor_cores.py":108:38)
#loc9 = loc("kernels/tensor_cores.py":109:13)
#loc10 = loc("kernels/tensor_cores.py":110:25)
#loc11 = loc("kernels/tensor_cores.py":110:21)
#loc12 = loc("kernels/tensor_cores.py":110:49)
#loc13 = loc("kernels/tensor_cores.py":110:13)
#loc14 = loc("kernels/tensor_cores.py":115:19)
#loc15 = loc("kernels/tensor_cores.py":116:28)
#loc16 = loc("kernels/tensor_cores.py":116:24)
#loc17 = loc("kernels/tensor_cores.py":116:55)
#loc18 = loc("kernels/tensor_cores.py":116:16)
#loc19 = loc("kernels/tensor_cores.py":117:18)
#loc20 = loc("triton/language/standard.py":216:16)
#loc22 = loc("triton/language/standard.py":196:12)
#loc23 = loc("kernels/tensor_cores.py":118:23)
#loc24 = loc("kernels/tensor_cores.py":119:35)
#loc25 = loc("kernels/tensor_cores.py":119:26)
#loc26 = loc("kernels/tensor_cores.py":119:19)
#loc27 = loc("kernels/tensor_cores.py":120:24)
#loc28 = loc("kernels/tensor_cores.py":120:17)
#loc29 = loc("kernels/tensor_cores.py":121:17)
#loc30 = loc("triton/language/standard.py":314:12)
#loc32 = loc("triton/language/standard.py":287:12)
#loc33 = loc("kernels/tensor_cores.py":122:30)
#loc34 = loc("kernels/tensor_cores.py":122:26)
#loc35 = loc("kernels/tensor_cores.py":122:18)
#loc36 = loc("kernels/tensor_cores.py":123:23)
#loc37 = loc("kernels/tensor_cores.py":123:58)
#loc38 = loc("kernels/tensor_cores.py":123:51)
#loc39 = loc("kernels/tensor_cores.py":123:16)
#loc40 = loc("kernels/tensor_cores.py":125:14)
#loc41 = loc("kernels/tensor_cores.py":125:68)
#loc42 = loc("kernels/tensor_cores.py":125:61)
#loc43 = loc("kernels/tensor_cores.py":125:60)
#loc44 = loc("kernels/tensor_cores.py":125:5)
#loc50 = loc("total"(#loc2))
#loc51 = loc(callsite(#loc4 at #loc3))
#loc52 = loc(callsite(#loc5 at #loc3))
#loc53 = loc("largest"(#loc6))
#loc54 = loc("rows"(#loc7))
#loc55 = loc("rows"(#loc8))
#loc56 = loc("depth"(#loc9))
#loc57 = loc("query"(#loc10))
#loc58 = loc("query"(#loc11))
#loc59 = loc("query"(#loc12))
#loc60 = loc("query"(#loc13))
#loc61 = loc("largest"(#loc4))
#loc62 = loc("columns"(#loc14))
#loc63 = loc("keys"(#loc15))
#loc64 = loc("keys"(#loc16))
#loc65 = loc("keys"(#loc17))
#loc66 = loc("keys"(#loc18))
#loc67 = loc("scores"(#loc19))
#loc69 = loc("new_largest"(#loc23))
#loc70 = loc("weights"(#loc24))
#loc71 = loc("weights"(#loc25))
#loc72 = loc("weights"(#loc26))
#loc73 = loc("scale"(#loc27))
#loc74 = loc("scale"(#loc28))
#loc75 = loc("total"(#loc29))
#loc77 = loc("values"(#loc33))
#loc78 = loc("values"(#loc34))
#loc79 = loc("values"(#loc35))
#loc80 = loc("sums"(#loc36))
#loc81 = loc("sums"(#loc37))
#loc82 = loc("sums"(#loc38))
#loc83 = loc("sums"(#loc39))
#loc84 = loc(callsite(#loc40 at #loc3))
#loc85 = loc(callsite(#loc41 at #loc3))
#loc86 = loc(callsite(#loc42 at #loc3))
#loc87 = loc(callsite(#loc43 at #loc3))
#loc88 = loc(callsite(#loc44 at #loc3))
#loc89 = loc(callsite(#loc50 at #loc3))
#loc90 = loc(callsite(#loc53 at #loc3))
#loc91 = loc(callsite(#loc54 at #loc3))
#loc92 = loc(callsite(#loc55 at #loc3))
#loc93 = loc(callsite(#loc56 at #loc3))
#loc94 = loc(callsite(#loc57 at #loc3))
#loc95 = loc(callsite(#loc58 at #loc3))
#loc96 = loc(callsite(#loc59 at #loc3))
#loc97 = loc(callsite(#loc60 at #loc3))
#loc98 = loc("total"(#loc61))
#loc99 = loc(callsite(#loc62 at #loc3))
#loc100 = loc(callsite(#loc63 at #loc3))
#loc101 = loc(callsite(#loc64 at #loc3))
#loc102 = loc(callsite(#loc65 at #loc3))
#loc103 = loc(callsite(#loc66 at #loc3))
#loc104 = loc(callsite(#loc67 at #loc3))
#loc106 = loc(callsite(#loc69 at #loc3))
#loc107 = loc(callsite(#loc70 at #loc3))
#loc108 = loc(callsite(#loc71 at #loc3))
#loc109 = loc(callsite(#loc72 at #loc3))
#loc110 = loc(callsite(#loc73 at #loc3))
#loc111 = loc(callsite(#loc74 at #loc3))
#loc112 = loc(callsite(#loc75 at #loc3))
#loc114 = loc(callsite(#loc77 at #loc3))
#loc115 = loc(callsite(#loc78 at #loc3))
#loc116 = loc(callsite(#loc79 at #loc3))
#loc117 = loc(callsite(#loc80 at #loc3))
#loc118 = loc(callsite(#loc81 at #loc3))
#loc119 = loc(callsite(#loc82 at #loc3))
#loc120 = loc(callsite(#loc83 at #loc3))
#loc121 = loc(callsite(#loc1 at #loc89))
#loc122 = loc("sums"(#loc98))
#loc123 = loc(callsite(#loc20 at #loc105))
#loc125 = loc(callsite(#loc30 at #loc113))
#loc127 = loc(callsite(#loc122 at #loc3))
#loc128 = loc(callsite(#loc22 at #loc123))
#loc129 = loc(callsite(#loc32 at #loc125))
`,source:`







































































































@triton.jit
def attended(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, narrow: tl.constexpr):
    """A block of rows of attention; the weights become a factor in the type \`narrow\`."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    query = tl.load(q + rows[:, None] * DEPTH + depth[None, :])
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DEPTH], tl.float32)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        keys = tl.load(k + columns[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(query, keys) * 0.17677669
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new_largest[:, None])
        scale = tl.exp(largest - new_largest)
        total = total * scale + tl.sum(weights, 1)
        values = tl.load(v + columns[:, None] * DEPTH + depth[None, :])
        sums = tl.dot(weights.to(narrow), values, sums * scale[:, None])
        largest = new_largest
    tl.store(out + rows[:, None] * DEPTH + depth[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def attention_f16(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    """Rows of sums are the left factor of the next product as they are."""
    attended(q, k, v, out, n, ROWS, COLUMNS, DEPTH, tl.float16)`,teaches:`Two products in one loop: the sum of the first becomes a factor of the second where it is, without a movement.`,grid:`1`,args:`q=random:f16[64x32] k=random:f16[64x32] v=random:f16[64x32] out=empty:f16[64x32] n=64`},{id:`spin_deadlock`,name:`A deadlock`,text:`#loc = loc("examples/spin_deadlock.py":16:1)
#loc3 = loc("examples/spin_deadlock.py":18:15)
#loc11 = loc("arrivals"(#loc))
#loc12 = loc("out"(#loc))
#loc14 = loc("arrived"(#loc3))
#loc17 = loc("arrived"(#loc14))
module {
  tt.func public @spin_deadlock(%arrivals: !tt.ptr<i32> {tt.divisibility = 16 : i32} loc("arrivals"(#loc)), %out: !tt.ptr<i32> {tt.divisibility = 16 : i32} loc("out"(#loc))) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %true = arith.constant true loc(#loc1)
    %c1_i32 = arith.constant 1 : i32 loc(#loc1)
    %programs = tt.get_num_programs x : i32 loc(#loc13)
    %arrived = tt.atomic_rmw add, acq_rel, gpu, %arrivals, %c1_i32, %true : (!tt.ptr<i32>, i32, i1) -> i32 loc(#loc14)
    %arrived_0 = arith.addi %arrived, %c1_i32 : i32 loc(#loc14)
    %arrived_1 = scf.while (%arrived_2 = %arrived_0) : (i32) -> i32 {
      %2 = arith.addi %programs, %c1_i32 : i32 loc(#loc5)
      %3 = arith.cmpi slt, %arrived_2, %2 : i32 loc(#loc6)
      scf.condition(%3) %arrived_2 : i32 loc(#loc6)
    } do {
    ^bb0(%arrived_2: i32 loc("arrived"(#loc14))):
      %arrived_3 = tt.atomic_rmw add, acquire, gpu, %arrivals, %c0_i32, %true : (!tt.ptr<i32>, i32, i1) -> i32 loc(#loc16)
      scf.yield %arrived_3 : i32 loc(#loc4)
    } loc(#loc15)
    %0 = tt.get_program_id x : i32 loc(#loc8)
    %1 = tt.addptr %out, %0 : !tt.ptr<i32>, i32 loc(#loc9)
    tt.store %1, %arrived_1 : !tt.ptr<i32> loc(#loc10)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("examples/spin_deadlock.py":17:16)
#loc4 = loc("examples/spin_deadlock.py":19:5)
#loc5 = loc("examples/spin_deadlock.py":19:21)
#loc6 = loc("examples/spin_deadlock.py":19:11)
#loc7 = loc("examples/spin_deadlock.py":20:19)
#loc8 = loc("examples/spin_deadlock.py":21:20)
#loc9 = loc("examples/spin_deadlock.py":21:14)
#loc10 = loc("examples/spin_deadlock.py":21:5)
#loc13 = loc("programs"(#loc2))
#loc15 = loc("arrived"(#loc4))
#loc16 = loc("arrived"(#loc7))
`,source:`"""Like \`spin_counter\`, with a mistake: every program waits for one arrival more than will ever come.

On a GPU this kernel never ends. The simulator notices that every program waits and that none can
change what the others wait for, and reports the deadlock with this loop's source location.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "spin_deadlock": dict(arrivals="*i32:16", out="*i32:16"),
}


@triton.jit
def spin_deadlock(arrivals, out):
    programs = tl.num_programs(0)
    arrived = tl.atomic_add(arrivals, 1, sem="acq_rel") + 1
    while arrived < programs + 1:
        arrived = tl.atomic_add(arrivals, 0, sem="acquire")
    tl.store(out + tl.program_id(0), arrived)
`,teaches:`Every block waits for one arrival more than will come. Run it: the simulator names the loop that nobody leaves.`,grid:`4`,args:`arrivals=zeros:i32[1] out=empty:i32[4]`},{id:`racing_count`,name:`A race`,text:`#loc = loc("examples/racing_count.py":17:1)
#loc1 = loc(unknown)
#loc10 = loc("examples/racing_count.py":20:16)
#loc15 = loc("x"(#loc))
#loc16 = loc("count"(#loc))
#loc17 = loc("n"(#loc))
#loc25 = loc("positive"(#loc10))
#loc28 = loc(callsite(#loc1 at #loc25))
module {
  tt.func public @racing_count(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %count: !tt.ptr<i32> {tt.divisibility = 16 : i32} loc("count"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf32> loc(#loc1)
    %places = arith.constant 1024 : i32 loc(#loc18)
    %places_0 = tt.get_program_id x : i32 loc(#loc18)
    %places_1 = arith.muli %places_0, %places : i32 loc(#loc18)
    %places_2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc19)
    %places_3 = tt.splat %places_1 : i32 -> tensor<1024xi32> loc(#loc18)
    %places_4 = arith.addi %places_3, %places_2 : tensor<1024xi32> loc(#loc18)
    %values = tt.splat %n : i32 -> tensor<1024xi32> loc(#loc20)
    %values_5 = arith.cmpi slt, %places_4, %values : tensor<1024xi32> loc(#loc20)
    %values_6 = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc21)
    %values_7 = tt.addptr %values_6, %places_4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc21)
    %values_8 = tt.load %values_7, %values_5, %cst : tensor<1024x!tt.ptr<f32>> loc(#loc22)
    %positive = arith.cmpf ogt, %values_8, %cst : tensor<1024xf32> loc(#loc23)
    %positive_9 = arith.extui %positive : tensor<1024xi1> to tensor<1024xi32> loc(#loc24)
    %positive_10 = "tt.reduce"(%positive_9) <{axis = 0 : i32}> ({
    ^bb0(%positive_11: i32 loc(callsite(#loc1 at #loc25)), %positive_12: i32 loc(callsite(#loc1 at #loc25))):
      %positive_13 = arith.addi %positive_11, %positive_12 : i32 loc(#loc29)
      tt.reduce.return %positive_13 : i32 loc(#loc27)
    }) : (tensor<1024xi32>) -> i32 loc(#loc27)
    %before = tt.load %count : !tt.ptr<i32> loc(#loc26)
    %0 = arith.addi %before, %positive_10 : i32 loc(#loc13)
    tt.store %count, %0 : !tt.ptr<i32> loc(#loc14)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("examples/racing_count.py":18:14)
#loc3 = loc("examples/racing_count.py":18:41)
#loc4 = loc("examples/racing_count.py":19:39)
#loc5 = loc("examples/racing_count.py":19:22)
#loc6 = loc("examples/racing_count.py":19:14)
#loc7 = loc("examples/racing_count.py":20:24)
#loc8 = loc("examples/racing_count.py":20:23)
#loc9 = loc("triton/language/standard.py":314:12)
#loc11 = loc("triton/language/standard.py":287:12)
#loc12 = loc("examples/racing_count.py":21:14)
#loc13 = loc("examples/racing_count.py":22:21)
#loc14 = loc("examples/racing_count.py":22:5)
#loc18 = loc("places"(#loc2))
#loc19 = loc("places"(#loc3))
#loc20 = loc("values"(#loc4))
#loc21 = loc("values"(#loc5))
#loc22 = loc("values"(#loc6))
#loc23 = loc("positive"(#loc7))
#loc24 = loc("positive"(#loc8))
#loc26 = loc("before"(#loc12))
#loc27 = loc(callsite(#loc9 at #loc25))
#loc29 = loc(callsite(#loc11 at #loc27))
`,source:`"""How many elements of an array are positive, with a mistake: programs add to one counter without an
atomic operation.

Two programs may read the same old count, and one of the two sums is lost. Mostly the result looks right on a
GPU. The simulator sees that nothing orders the accesses, and reports the race with the lines of both.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "racing_count": dict(x="*fp32:16", count="*i32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def racing_count(x, count, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < n, other=0.0)
    positive = tl.sum((values > 0.0).to(tl.int32), axis=0)
    before = tl.load(count)
    tl.store(count, before + positive)
`,teaches:`Blocks add to one counter without an atomic operation. Run it: the simulator names both lines, and the sum is wrong.`,grid:`8`,args:`x=random:f32[8192] count=zeros:i32[1] n=8192`},{id:`vector_add`,name:`Vector sum`,text:`#loc = loc("examples/vector_add.py":12:1)
#loc10 = loc("x"(#loc))
#loc11 = loc("y"(#loc))
#loc12 = loc("out"(#loc))
#loc13 = loc("n"(#loc))
module {
  tt.func public @vector_add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %y: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("y"(#loc)), %out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
    %offsets = arith.constant 1024 : i32 loc(#loc14)
    %offsets_0 = tt.get_program_id x : i32 loc(#loc14)
    %offsets_1 = arith.muli %offsets_0, %offsets : i32 loc(#loc14)
    %offsets_2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc15)
    %offsets_3 = tt.splat %offsets_1 : i32 -> tensor<1024xi32> loc(#loc14)
    %offsets_4 = arith.addi %offsets_3, %offsets_2 : tensor<1024xi32> loc(#loc14)
    %mask = tt.splat %n : i32 -> tensor<1024xi32> loc(#loc16)
    %mask_5 = arith.cmpi slt, %offsets_4, %mask : tensor<1024xi32> loc(#loc16)
    %total = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc17)
    %total_6 = tt.addptr %total, %offsets_4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc17)
    %total_7 = tt.load %total_6, %mask_5 : tensor<1024x!tt.ptr<f32>> loc(#loc18)
    %total_8 = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc19)
    %total_9 = tt.addptr %total_8, %offsets_4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc19)
    %total_10 = tt.load %total_9, %mask_5 : tensor<1024x!tt.ptr<f32>> loc(#loc20)
    %total_11 = arith.addf %total_7, %total_10 : tensor<1024xf32> loc(#loc18)
    %0 = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc8)
    %1 = tt.addptr %0, %offsets_4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc8)
    tt.store %1, %total_11, %mask_5 : tensor<1024x!tt.ptr<f32>> loc(#loc9)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("examples/vector_add.py":13:15)
#loc2 = loc("examples/vector_add.py":13:42)
#loc3 = loc("examples/vector_add.py":14:12)
#loc4 = loc("examples/vector_add.py":15:21)
#loc5 = loc("examples/vector_add.py":15:13)
#loc6 = loc("examples/vector_add.py":15:55)
#loc7 = loc("examples/vector_add.py":15:47)
#loc8 = loc("examples/vector_add.py":16:14)
#loc9 = loc("examples/vector_add.py":16:5)
#loc14 = loc("offsets"(#loc1))
#loc15 = loc("offsets"(#loc2))
#loc16 = loc("mask"(#loc3))
#loc17 = loc("total"(#loc4))
#loc18 = loc("total"(#loc5))
#loc19 = loc("total"(#loc6))
#loc20 = loc("total"(#loc7))
`,source:`"""The sum of two vectors of \`n\` elements; the last program's tail is masked."""

import triton
import triton.language as tl

SIGNATURES = {
    "vector_add": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)
`,teaches:`Memory is all that counts: 16 bytes a lane, and every sector is used in full.`,grid:`4`,args:`x=random:f32[4096] y=random:f32[4096] out=empty:f32[4096] n=4096`},{id:`transpose_halves`,name:`Transpose, f16`,text:`#loc = loc("kernels/transposes.py":46:1)
#loc20 = loc("x"(#loc))
#loc21 = loc("out"(#loc))
#loc22 = loc("m"(#loc))
#loc23 = loc("n"(#loc))
#loc24 = loc("x_row"(#loc))
#loc25 = loc("out_row"(#loc))
module {
  tt.func public @transpose_halves(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("x"(#loc)), %out: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("out"(#loc)), %m: i32 loc("m"(#loc)), %n: i32 loc("n"(#loc)), %x_row: i32 {tt.divisibility = 16 : i32} loc("x_row"(#loc)), %out_row: i32 {tt.divisibility = 16 : i32} loc("out_row"(#loc))) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32 loc(#loc26)
    %row = tt.get_program_id x : i32 loc(#loc44)
    %row_0 = arith.muli %row, %c64_i32 : i32 loc(#loc44)
    %row_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc45)
    %row_2 = tt.splat %row_0 : i32 -> tensor<64xi32> loc(#loc44)
    %row_3 = arith.addi %row_2, %row_1 : tensor<64xi32> loc(#loc44)
    %column = tt.get_program_id y : i32 loc(#loc46)
    %column_4 = arith.muli %column, %c64_i32 : i32 loc(#loc46)
    %column_5 = tt.splat %column_4 : i32 -> tensor<64xi32> loc(#loc46)
    %column_6 = arith.addi %column_5, %row_1 : tensor<64xi32> loc(#loc46)
    %block = tt.expand_dims %row_3 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc47)
    %block_7 = tt.splat %m : i32 -> tensor<64x1xi32> loc(#loc47)
    %block_8 = arith.cmpi slt, %block, %block_7 : tensor<64x1xi32> loc(#loc47)
    %block_9 = tt.expand_dims %column_6 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32> loc(#loc48)
    %block_10 = tt.splat %n : i32 -> tensor<1x64xi32> loc(#loc48)
    %block_11 = arith.cmpi slt, %block_9, %block_10 : tensor<1x64xi32> loc(#loc48)
    %block_12 = tt.broadcast %block_8 : tensor<64x1xi1> -> tensor<64x64xi1> loc(#loc49)
    %block_13 = tt.broadcast %block_11 : tensor<1x64xi1> -> tensor<64x64xi1> loc(#loc49)
    %block_14 = arith.andi %block_12, %block_13 : tensor<64x64xi1> loc(#loc49)
    %block_15 = tt.splat %x_row : i32 -> tensor<64x1xi32> loc(#loc50)
    %block_16 = arith.muli %block, %block_15 : tensor<64x1xi32> loc(#loc50)
    %block_17 = tt.splat %x : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>> loc(#loc51)
    %block_18 = tt.addptr %block_17, %block_16 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32> loc(#loc51)
    %block_19 = tt.broadcast %block_18 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>> loc(#loc51)
    %block_20 = tt.broadcast %block_9 : tensor<1x64xi32> -> tensor<64x64xi32> loc(#loc51)
    %block_21 = tt.addptr %block_19, %block_20 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32> loc(#loc51)
    %block_22 = tt.load %block_21, %block_14 : tensor<64x64x!tt.ptr<f16>> loc(#loc52)
    %at = tt.expand_dims %column_6 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32> loc(#loc53)
    %at_23 = tt.splat %out_row : i32 -> tensor<64x1xi32> loc(#loc53)
    %at_24 = arith.muli %at, %at_23 : tensor<64x1xi32> loc(#loc53)
    %at_25 = tt.splat %out : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>> loc(#loc54)
    %at_26 = tt.addptr %at_25, %at_24 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32> loc(#loc54)
    %at_27 = tt.expand_dims %row_3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32> loc(#loc55)
    %at_28 = tt.broadcast %at_26 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>> loc(#loc54)
    %at_29 = tt.broadcast %at_27 : tensor<1x64xi32> -> tensor<64x64xi32> loc(#loc54)
    %at_30 = tt.addptr %at_28, %at_29 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32> loc(#loc54)
    %0 = tt.splat %n : i32 -> tensor<64x1xi32> loc(#loc39)
    %1 = arith.cmpi slt, %at, %0 : tensor<64x1xi32> loc(#loc39)
    %2 = tt.splat %m : i32 -> tensor<1x64xi32> loc(#loc40)
    %3 = arith.cmpi slt, %at_27, %2 : tensor<1x64xi32> loc(#loc40)
    %4 = tt.broadcast %1 : tensor<64x1xi1> -> tensor<64x64xi1> loc(#loc41)
    %5 = tt.broadcast %3 : tensor<1x64xi1> -> tensor<64x64xi1> loc(#loc41)
    %6 = arith.andi %4, %5 : tensor<64x64xi1> loc(#loc41)
    %7 = tt.trans %block_22 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16> loc(#loc42)
    tt.store %at_30, %7, %6 : tensor<64x64x!tt.ptr<f16>> loc(#loc43)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("kernels/transposes.py":48:5)
#loc3 = loc("kernels/transposes.py":26:11)
#loc4 = loc("kernels/transposes.py":26:37)
#loc5 = loc("kernels/transposes.py":27:14)
#loc6 = loc("kernels/transposes.py":28:71)
#loc7 = loc("kernels/transposes.py":28:92)
#loc8 = loc("kernels/transposes.py":28:70)
#loc9 = loc("kernels/transposes.py":28:25)
#loc10 = loc("kernels/transposes.py":28:21)
#loc11 = loc("kernels/transposes.py":28:13)
#loc12 = loc("kernels/transposes.py":29:16)
#loc13 = loc("kernels/transposes.py":29:10)
#loc14 = loc("kernels/transposes.py":29:44)
#loc15 = loc("kernels/transposes.py":30:41)
#loc16 = loc("kernels/transposes.py":30:65)
#loc17 = loc("kernels/transposes.py":30:40)
#loc18 = loc("kernels/transposes.py":30:18)
#loc19 = loc("kernels/transposes.py":30:5)
#loc26 = loc(callsite(#loc1 at #loc2))
#loc27 = loc("row"(#loc3))
#loc28 = loc("row"(#loc4))
#loc29 = loc("column"(#loc5))
#loc30 = loc("block"(#loc6))
#loc31 = loc("block"(#loc7))
#loc32 = loc("block"(#loc8))
#loc33 = loc("block"(#loc9))
#loc34 = loc("block"(#loc10))
#loc35 = loc("block"(#loc11))
#loc36 = loc("at"(#loc12))
#loc37 = loc("at"(#loc13))
#loc38 = loc("at"(#loc14))
#loc39 = loc(callsite(#loc15 at #loc2))
#loc40 = loc(callsite(#loc16 at #loc2))
#loc41 = loc(callsite(#loc17 at #loc2))
#loc42 = loc(callsite(#loc18 at #loc2))
#loc43 = loc(callsite(#loc19 at #loc2))
#loc44 = loc(callsite(#loc27 at #loc2))
#loc45 = loc(callsite(#loc28 at #loc2))
#loc46 = loc(callsite(#loc29 at #loc2))
#loc47 = loc(callsite(#loc30 at #loc2))
#loc48 = loc(callsite(#loc31 at #loc2))
#loc49 = loc(callsite(#loc32 at #loc2))
#loc50 = loc(callsite(#loc33 at #loc2))
#loc51 = loc(callsite(#loc34 at #loc2))
#loc52 = loc(callsite(#loc35 at #loc2))
#loc53 = loc(callsite(#loc36 at #loc2))
#loc54 = loc(callsite(#loc37 at #loc2))
#loc55 = loc(callsite(#loc38 at #loc2))
`,source:`





















@triton.jit
def turned(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A tile that is read along rows and written along columns."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    block = tl.load(x + row[:, None] * x_row + column[None, :], mask=(row[:, None] < m) & (column[None, :] < n))
    at = out + column[:, None] * out_row + row[None, :]
    tl.store(at, tl.trans(block), mask=(column[:, None] < n) & (row[None, :] < m))














@triton.jit
def transpose_halves(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sixteen bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)`,teaches:`Elements of two bytes: bits below the bank's word turn with the tile.`,grid:`2x1`,args:`x=random:f16[100x64] out=empty:f16[50x112] m=100 n=50 x_row=64 out_row=112`},{id:`layer_norm_forward`,name:`Layer norm`,text:`#loc = loc("kernels/normalisation.py":124:1)
#loc1 = loc(unknown)
#loc15 = loc("kernels/normalisation.py":135:12)
#loc27 = loc("kernels/normalisation.py":142:27)
#loc49 = loc("x"(#loc))
#loc50 = loc("weight"(#loc))
#loc51 = loc("bias"(#loc))
#loc52 = loc("out"(#loc))
#loc53 = loc("means"(#loc))
#loc54 = loc("inverses"(#loc))
#loc55 = loc("columns"(#loc))
#loc56 = loc("stride"(#loc))
#loc57 = loc("epsilon"(#loc))
#loc70 = loc("mean"(#loc15))
#loc81 = loc("inverse"(#loc27))
#loc96 = loc(callsite(#loc1 at #loc70))
#loc98 = loc(callsite(#loc1 at #loc81))
module {
  tt.func public @layer_norm_forward(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("x"(#loc)), %weight: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("weight"(#loc)), %bias: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("bias"(#loc)), %out: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("out"(#loc)), %means: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("means"(#loc)), %inverses: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("inverses"(#loc)), %columns: i32 loc("columns"(#loc)), %stride: i32 {tt.divisibility = 16 : i32} loc("stride"(#loc)), %epsilon: f32 loc("epsilon"(#loc))) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16> loc(#loc1)
    %c1024_i32 = arith.constant 1024 : i32 loc(#loc1)
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %inverse = arith.constant 1.000000e+00 : f32 loc(#loc58)
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1024xf32> loc(#loc1)
    %row = tt.get_program_id x : i32 loc(#loc59)
    %x_1 = arith.muli %row, %stride : i32 loc(#loc60)
    %x_2 = tt.addptr %x, %x_1 : !tt.ptr<f16>, i32 loc(#loc61)
    %out_3 = tt.addptr %out, %x_1 : !tt.ptr<f16>, i32 loc(#loc62)
    %sums = scf.for %start = %c0_i32 to %columns step %c1024_i32 iter_args(%sums_11 = %cst_0) -> (tensor<1024xf32>)  : i32 {
      %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc64)
      %at_12 = tt.splat %start : i32 -> tensor<1024xi32> loc(#loc65)
      %at_13 = arith.addi %at_12, %at : tensor<1024xi32> loc(#loc65)
      %sums_14 = tt.splat %columns : i32 -> tensor<1024xi32> loc(#loc66)
      %sums_15 = arith.cmpi slt, %at_13, %sums_14 : tensor<1024xi32> loc(#loc66)
      %sums_16 = tt.splat %x_2 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>> loc(#loc67)
      %sums_17 = tt.addptr %sums_16, %at_13 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32> loc(#loc67)
      %sums_18 = tt.load %sums_17, %sums_15, %cst : tensor<1024x!tt.ptr<f16>> loc(#loc68)
      %sums_19 = arith.extf %sums_18 : tensor<1024xf16> to tensor<1024xf32> loc(#loc68)
      %sums_20 = arith.addf %sums_11, %sums_19 : tensor<1024xf32> loc(#loc69)
      scf.yield %sums_20 : tensor<1024xf32> loc(#loc7)
    } loc(#loc63)
    %mean = "tt.reduce"(%sums) <{axis = 0 : i32}> ({
    ^bb0(%mean_11: f32 loc(callsite(#loc1 at #loc70)), %mean_12: f32 loc(callsite(#loc1 at #loc70))):
      %mean_13 = arith.addf %mean_11, %mean_12 : f32 loc(#loc99)
      tt.reduce.return %mean_13 : f32 loc(#loc95)
    }) : (tensor<1024xf32>) -> f32 loc(#loc95)
    %mean_4 = arith.sitofp %columns : i32 to f32 loc(#loc70)
    %mean_5 = arith.divf %mean, %mean_4 : f32 loc(#loc70)
    %squares = scf.for %start = %c0_i32 to %columns step %c1024_i32 iter_args(%squares_11 = %cst_0) -> (tensor<1024xf32>)  : i32 {
      %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc72)
      %at_12 = tt.splat %start : i32 -> tensor<1024xi32> loc(#loc73)
      %at_13 = arith.addi %at_12, %at : tensor<1024xi32> loc(#loc73)
      %block = tt.splat %columns : i32 -> tensor<1024xi32> loc(#loc74)
      %block_14 = arith.cmpi slt, %at_13, %block : tensor<1024xi32> loc(#loc74)
      %block_15 = tt.splat %x_2 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>> loc(#loc75)
      %block_16 = tt.addptr %block_15, %at_13 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32> loc(#loc75)
      %block_17 = tt.load %block_16, %block_14, %cst : tensor<1024x!tt.ptr<f16>> loc(#loc76)
      %block_18 = arith.extf %block_17 : tensor<1024xf16> to tensor<1024xf32> loc(#loc76)
      %block_19 = tt.splat %mean_5 : f32 -> tensor<1024xf32> loc(#loc77)
      %block_20 = arith.subf %block_18, %block_19 : tensor<1024xf32> loc(#loc77)
      %block_21 = arith.select %block_14, %block_20, %cst_0 : tensor<1024xi1>, tensor<1024xf32> loc(#loc78)
      %squares_22 = arith.mulf %block_21, %block_21 : tensor<1024xf32> loc(#loc79)
      %squares_23 = arith.addf %squares_11, %squares_22 : tensor<1024xf32> loc(#loc80)
      scf.yield %squares_23 : tensor<1024xf32> loc(#loc17)
    } loc(#loc71)
    %inverse_6 = "tt.reduce"(%squares) <{axis = 0 : i32}> ({
    ^bb0(%inverse_11: f32 loc(callsite(#loc1 at #loc81)), %inverse_12: f32 loc(callsite(#loc1 at #loc81))):
      %inverse_13 = arith.addf %inverse_11, %inverse_12 : f32 loc(#loc100)
      tt.reduce.return %inverse_13 : f32 loc(#loc97)
    }) : (tensor<1024xf32>) -> f32 loc(#loc97)
    %inverse_7 = arith.divf %inverse_6, %mean_4 : f32 loc(#loc81)
    %inverse_8 = arith.addf %inverse_7, %epsilon : f32 loc(#loc81)
    %inverse_9 = math.sqrt %inverse_8 : f32 loc(#loc82)
    %inverse_10 = arith.divf %inverse, %inverse_9 : f32 loc(#loc58)
    %0 = tt.addptr %means, %row : !tt.ptr<f32>, i32 loc(#loc29)
    tt.store %0, %mean_5 : !tt.ptr<f32> loc(#loc30)
    %1 = tt.addptr %inverses, %row : !tt.ptr<f32>, i32 loc(#loc31)
    tt.store %1, %inverse_10 : !tt.ptr<f32> loc(#loc32)
    scf.for %start = %c0_i32 to %columns step %c1024_i32  : i32 {
      %at = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc83)
      %at_11 = tt.splat %start : i32 -> tensor<1024xi32> loc(#loc84)
      %at_12 = arith.addi %at_11, %at : tensor<1024xi32> loc(#loc84)
      %mask = tt.splat %columns : i32 -> tensor<1024xi32> loc(#loc85)
      %mask_13 = arith.cmpi slt, %at_12, %mask : tensor<1024xi32> loc(#loc85)
      %block = tt.splat %x_2 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>> loc(#loc86)
      %block_14 = tt.addptr %block, %at_12 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32> loc(#loc86)
      %block_15 = tt.load %block_14, %mask_13, %cst : tensor<1024x!tt.ptr<f16>> loc(#loc87)
      %block_16 = arith.extf %block_15 : tensor<1024xf16> to tensor<1024xf32> loc(#loc87)
      %normal = tt.splat %mean_5 : f32 -> tensor<1024xf32> loc(#loc88)
      %normal_17 = arith.subf %block_16, %normal : tensor<1024xf32> loc(#loc88)
      %normal_18 = tt.splat %inverse_10 : f32 -> tensor<1024xf32> loc(#loc89)
      %normal_19 = arith.mulf %normal_17, %normal_18 : tensor<1024xf32> loc(#loc89)
      %scaled = tt.splat %weight : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc90)
      %scaled_20 = tt.addptr %scaled, %at_12 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc90)
      %scaled_21 = tt.load %scaled_20, %mask_13 : tensor<1024x!tt.ptr<f32>> loc(#loc91)
      %scaled_22 = arith.mulf %normal_19, %scaled_21 : tensor<1024xf32> loc(#loc92)
      %scaled_23 = tt.splat %bias : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc93)
      %scaled_24 = tt.addptr %scaled_23, %at_12 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc93)
      %scaled_25 = tt.load %scaled_24, %mask_13 : tensor<1024x!tt.ptr<f32>> loc(#loc94)
      %scaled_26 = arith.addf %scaled_22, %scaled_25 : tensor<1024xf32> loc(#loc92)
      %2 = tt.splat %out_3 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>> loc(#loc46)
      %3 = tt.addptr %2, %at_12 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32> loc(#loc46)
      %4 = arith.truncf %scaled_26 : tensor<1024xf32> to tensor<1024xf16> loc(#loc47)
      tt.store %3, %4, %mask_13 : tensor<1024x!tt.ptr<f16>> loc(#loc48)
    } loc(#loc33)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("kernels/normalisation.py":142:15)
#loc3 = loc("kernels/normalisation.py":128:11)
#loc4 = loc("kernels/normalisation.py":129:10)
#loc5 = loc("kernels/normalisation.py":129:5)
#loc6 = loc("kernels/normalisation.py":130:5)
#loc7 = loc("kernels/normalisation.py":132:5)
#loc8 = loc("kernels/normalisation.py":133:22)
#loc9 = loc("kernels/normalisation.py":133:14)
#loc10 = loc("kernels/normalisation.py":134:38)
#loc11 = loc("kernels/normalisation.py":134:25)
#loc12 = loc("kernels/normalisation.py":134:17)
#loc13 = loc("kernels/normalisation.py":134:9)
#loc14 = loc("triton/language/standard.py":314:12)
#loc16 = loc("triton/language/standard.py":287:12)
#loc17 = loc("kernels/normalisation.py":137:5)
#loc18 = loc("kernels/normalisation.py":138:22)
#loc19 = loc("kernels/normalisation.py":138:14)
#loc20 = loc("kernels/normalisation.py":139:38)
#loc21 = loc("kernels/normalisation.py":139:25)
#loc22 = loc("kernels/normalisation.py":139:17)
#loc23 = loc("kernels/normalisation.py":140:40)
#loc24 = loc("kernels/normalisation.py":140:17)
#loc25 = loc("kernels/normalisation.py":141:20)
#loc26 = loc("kernels/normalisation.py":141:9)
#loc28 = loc("kernels/normalisation.py":142:19)
#loc29 = loc("kernels/normalisation.py":143:14)
#loc30 = loc("kernels/normalisation.py":143:5)
#loc31 = loc("kernels/normalisation.py":144:14)
#loc32 = loc("kernels/normalisation.py":144:5)
#loc33 = loc("kernels/normalisation.py":145:5)
#loc34 = loc("kernels/normalisation.py":146:22)
#loc35 = loc("kernels/normalisation.py":146:14)
#loc36 = loc("kernels/normalisation.py":147:16)
#loc37 = loc("kernels/normalisation.py":148:25)
#loc38 = loc("kernels/normalisation.py":148:17)
#loc39 = loc("kernels/normalisation.py":149:19)
#loc40 = loc("kernels/normalisation.py":149:18)
#loc41 = loc("kernels/normalisation.py":150:35)
#loc42 = loc("kernels/normalisation.py":150:27)
#loc43 = loc("kernels/normalisation.py":150:18)
#loc44 = loc("kernels/normalisation.py":150:69)
#loc45 = loc("kernels/normalisation.py":150:61)
#loc46 = loc("kernels/normalisation.py":151:18)
#loc47 = loc("kernels/normalisation.py":151:28)
#loc48 = loc("kernels/normalisation.py":151:9)
#loc58 = loc("inverse"(#loc2))
#loc59 = loc("row"(#loc3))
#loc60 = loc("x"(#loc4))
#loc61 = loc("x"(#loc5))
#loc62 = loc("out"(#loc6))
#loc63 = loc("sums"(#loc7))
#loc64 = loc("at"(#loc8))
#loc65 = loc("at"(#loc9))
#loc66 = loc("sums"(#loc10))
#loc67 = loc("sums"(#loc11))
#loc68 = loc("sums"(#loc12))
#loc69 = loc("sums"(#loc13))
#loc71 = loc("squares"(#loc17))
#loc72 = loc("at"(#loc18))
#loc73 = loc("at"(#loc19))
#loc74 = loc("block"(#loc20))
#loc75 = loc("block"(#loc21))
#loc76 = loc("block"(#loc22))
#loc77 = loc("block"(#loc23))
#loc78 = loc("block"(#loc24))
#loc79 = loc("squares"(#loc25))
#loc80 = loc("squares"(#loc26))
#loc82 = loc("inverse"(#loc28))
#loc83 = loc("at"(#loc34))
#loc84 = loc("at"(#loc35))
#loc85 = loc("mask"(#loc36))
#loc86 = loc("block"(#loc37))
#loc87 = loc("block"(#loc38))
#loc88 = loc("normal"(#loc39))
#loc89 = loc("normal"(#loc40))
#loc90 = loc("scaled"(#loc41))
#loc91 = loc("scaled"(#loc42))
#loc92 = loc("scaled"(#loc43))
#loc93 = loc("scaled"(#loc44))
#loc94 = loc("scaled"(#loc45))
#loc95 = loc(callsite(#loc14 at #loc70))
#loc97 = loc(callsite(#loc14 at #loc81))
#loc99 = loc(callsite(#loc16 at #loc95))
#loc100 = loc(callsite(#loc16 at #loc97))
`,source:`

























































































































@triton.jit
def layer_norm_forward(
    x, weight, bias, out, means, inverses, columns, stride, epsilon, BLOCK: tl.constexpr
):  # fmt: skip
    """Mean, then variance about it, then the row, each in a pass over blocks."""
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, 0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        block = tl.where(at < columns, block - mean, 0.0)
        squares += block * block
    inverse = 1 / tl.sqrt(tl.sum(squares, 0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(inverses + row, inverse)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        block = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        normal = (block - mean) * inverse
        scaled = normal * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask)
        tl.store(out + at, scaled.to(tl.float16), mask=mask)`,teaches:`Three passes over a row: loops carry sums in the layout in which they are loaded.`,grid:`1`,args:`x=random:f16[1x1504] weight=random:f32[1500] bias=random:f32[1500] out=empty:f16[1x1504] means=empty:f32[1] inverses=empty:f32[1] columns=1500 stride=1504 epsilon=1e-5`}],Qt={preset:m(Zt[0].id),text:m(),source:m(),sass:m(),kernel:m(),target:m(`sm_90`),warps:h(`0`,`1`,`2`,`4`,`8`,`16`,`32`),pins:b(),line:g(0),python:g(0),code:h(`ptx`,`cuda`),away:b(),against:m(),other:m(),run:_(),grid:m(),args:b(),seed:g(0)},$t={pins:[],line:0,python:0,kernel:``,source:``,sass:``,run:!1,grid:``,args:[],other:``};function z({preset:e,text:t}){return t===``?Zt.find(({id:t})=>t===e)??Zt[0]:void 0}function B(e){return z(e)?.text??e.text}function en(e){return e.source===``?z(e)?.source??``:e.source}function tn(e){let t=e.slice(0,Math.max(0,e.indexOf(`=`))).trim();return t.startsWith(`%`)?t:`%${t}`}var nn=`triton`,rn=`text`;function an(e){let{against:t,other:n,target:r}=e;if(t===``)return;if(t===`text`)return n===``?void 0:{name:`the other text`,ttir:n,target:r};if(t!==`triton`)return{name:t,target:t};let i=z(e)?.triton;return i===void 0?void 0:{name:`Triton's layouts`,ttir:i,target:r}}var on=class{element;pick;fault=new O;#e;#t=C(`table.data`);#n=C(`p.note`);#r;#i;#a=[];constructor(e){this.#e=e,this.pick=N(`Compare with`,[{value:``,label:`nothing`}],t=>e.set({against:t})),e.engine.invoke({request:`machines`}).then(({machines:e})=>{this.#a=e.map(({name:e})=>e),this.#s()},()=>void 0),this.#i=j(`The other text`,t=>e.set({other:t.trim()===``?``:t}),{lines:6,hint:`Triton IR of another version, or Triton's TTGIR; lines are matched through their Python source.`}),this.#r=C(`div.scroll`,{tabindex:0,role:`group`,"aria-label":`Side by side`},this.#t),this.element=C(`section.card.against`,{"aria-label":`Comparison`},C(`header`,null,C(`h2`,null,`Side by side`)),C(`div.stack.tight`,null,this.#i.element,this.fault.element,this.#r,this.#n))}#o;update(e){this.#o=e,this.element.hidden=e.against===``,this.#i.element.hidden=e.against!==rn,this.#i.set(e.other),this.#s(),an(e)===void 0&&this.clear(e.against===`triton`?`No TTGIR of this kernel is recorded here: paste one as another text.`:``)}clear(e=``){this.#r.hidden=!0,this.#n.textContent=e}#s(){let e=this.#o;e&&(this.pick.offer([{value:``,label:`nothing`},...z(e)?.triton!==void 0||e.against===`triton`?[{value:nn,label:`Triton 3.9's layouts`}]:[],{value:rn,label:`another text…`},...this.#a.filter(t=>t!==e.target).map(e=>({value:e,label:e}))]),this.pick.set(e.against))}show(e,t,n,r){this.fault.clear(),this.#r.hidden=!1;let i=new Map(new R(t.lines).shown(en(e),t.name).map(({number:e,text:t})=>[e,t.trim()])),a=e=>{let t=new R(e.lines),n=new Map;for(let{line:r,cost:i}of e.lines??[]){let e=t.of(r);e!==void 0&&i>0&&n.set(e,(n.get(e)??0)+i)}return n},[o,s]=[a(t),a(n)],c=[...new Set([...o.keys(),...s.keys()])].sort((e,t)=>e-t),l=Math.max(1,...o.values(),...s.values()),u=(e,t)=>C(`td.number.bar`,{style:t?`--share: ${(e/l).toFixed(3)}`:null},e===0?`–`:I(e)),d=(e,[t,n],r)=>{let i=n>t?`better`:n<t?`worse`:`same`,a=t===n?`the same`:t===0||n===0?``:n>t?`${(n/t).toFixed(2)} × less here`:`${(t/n).toFixed(2)} × more here`;return C(`tr`,{class:r===void 0?`sum`:null,"data-python":r??`all`},C(`th`,{scope:`row`},e),u(t,r!==void 0),u(n,r!==void 0),C(`td`,{class:i},a))},f=e=>[...e.values()].reduce((e,t)=>e+t,0),p=({lines:e=[]})=>e.reduce((e,{cost:t})=>e+t,0);T(this.#t,C(`caption.spoken`,null,`Cycles per block, here and with ${r}`),C(`thead`,null,C(`tr`,null,[`line`,`${t.target}, Weft`,n.target===t.target?r:n.target,``].map((e,t)=>C(t===0?`th`:`th.number`,{scope:`col`},e)))),C(`tbody`,null,c.map(e=>{let t=C(`button.quiet.instead`,{type:`button`,onclick:()=>this.#e.set({python:e,line:0})},String(e));return d([t,` `,C(`code`,null,i.get(e)??``)],[o.get(e)??0,s.get(e)??0],e)}),d([`all lines`],[p(t),p(n)])));let m=p(n)-f(s)+p(t)-f(o);this.#n.textContent=`Cycles per block over all rounds of loops, as Weft prices both.${m>0?` Some of the costs are at lines that name no place.`:``}`}},sn=`own`,cn=class{element=C(`section.card.details`,{"aria-label":`What is chosen`,"aria-live":`polite`});#e;#t=new A({name:`Layout of a value`,bare:!0});#n=C(`h3`);#r=C(`a`,{href:`#/layout`},`All pictures of this layout`);#i=D();constructor(e){this.#e=e}show(e,t,n,r){let i=Ft(n),a=t.flatMap(e=>i.get(e)??[]),o=e=>a.flatMap(e),s=e.python>0?`Line ${e.python} of the source`:`Line ${t.join(`, `)}`,c=(n.lines??[]).reduce((e,n)=>e+(t.includes(n.line)?n.cost:0),0),[l,u,d,f]=[o(e=>e.accesses),o(e=>e.movements),o(e=>e.shared),o(e=>e.products)],p=o(e=>e.homes),m=p[0]?.layout??l[0]?.layout??u[0]?.to??d[0]?.layout??f[0]?.layout;T(this.element,C(`header`,null,C(`h2`,null,s),c>0&&C(`p`,null,`${I(c)} cycles per block, over all rounds`)),a.length===0&&C(`p.note`,null,`No value of this line has registers or memory of its own, and nothing moves.`),C(`div.halves`,null,C(`div.stack.tight`,null,p.map(t=>this.#a(e,t,r)),u.map(e=>this.#s(e,r)),l.map(e=>this.#c(e,r)),d.map(e=>this.#l(e,r)),f.map(e=>this.#u(e,r)),o(e=>e.barriers).map(e=>this.#d(e)),this.#p(r)),m!==void 0&&C(`div.seen`,null,this.#n,this.#t.element,C(`p.note`,null,this.#r)))),m!==void 0&&this.#m(m,r)}#a(e,t,n){let{value:r,type:i,layout:a,buffers:o,reason:s,next:c}=t;return C(`div.known`,{"data-value":r},C(`h3`,null,C(`code`,null,r),o?` lives in shared memory, in `:` lives in `,n.of(a)),C(`p.note`,null,i),o&&C(`p`,null,`${dn(Nt(o))}.`),o&&C(`p.note`,null,C(`code`,null,o.attribute)),C(`p`,null,un(s)),this.#f(c,n),!o&&this.#o(e,t,n))}#o(e,{value:t,type:n,layout:r,next:i},a){let o=Lt(n),s=a.all.filter(e=>Rt(e,o)),c=n=>{let r=e.pins.filter(e=>tn(e)!==t);this.#e.set({pins:n===``?r:[...r,`${t}=${n}`]})},l=e.pins.find(e=>tn(e)===t),u=e=>e.trim()!==``&&c(ft(e)),d=M(`Layout of your own for ${t}`,e=>ct(e,o,this.#e.engine),u,{lines:3,anyway:u,hint:`A Triton attribute, or bases as below; applied when you leave the field.`});d.element.hidden=!0;let f=N(`Pin ${t}`,[{value:``,label:`where Weft puts it`},...s.map(e=>({value:e,label:`${a.of(e)}${e===r?` (here)`:e===i?.layout?` (next best, +${I(i.more)})`:``}`})),{value:sn,label:`a layout of your own…`}],e=>{d.element.hidden=e!==sn,e===sn?d.input.focus():c(e)}),p=l?.slice(l.indexOf(`=`)+1).trim();return p!==void 0&&!s.includes(p)?(f.set(sn),d.element.hidden=!1,d.set(p)):f.set(p??``),C(`div.stack.tight`,null,f.element,d.element)}#s({value:e,from:t,to:n,operation:r,strategy:i,cost:a,bound:o,times:s,outline:c},l){return C(`div.known`,null,C(`h3`,null,C(`code`,null,e),` moves from ${l.of(t)} to ${l.of(n)}`),C(`p`,null,`By ${i}, for the ${r}: ${I(a)} cycles a warp, bound ${I(o)}${s>1?`, ${s} times`:``}.`),C(`details`,null,C(`summary`,null,`The steps`),C(`div.code`,null,C(`pre`,{tabindex:0,"aria-label":`How ${e} moves`},c))))}#c({operation:e,layout:t,vector_bytes:n,instructions:r,sectors:i,ideal_sectors:a,reasons:o,times:s,next:c},l){return C(`div.known`,null,C(`h3`,null,`The ${e} runs in ${l.of(t)}`),C(`p`,null,`${L(n,`byte`)} a lane, ${L(r,`instruction`)} a warp, ${L(i,`sector`)} each (ideal ${a})${s>1?`, ${s} times`:``}.`),ln(o),this.#f(c,l))}#l({operation:e,kind:t,value:n,layout:r,memory:i,times:a,...o},s){let{matrix_moves:c,vector_bytes:l,instructions:u,wavefronts:d,ideal:f}=o,p=c?` by matrix moves`:``;return C(`div.known`,null,C(`h3`,null,`The ${e} of `,C(`code`,null,n),` ${t}s in ${s.of(r)}`),C(`p.note`,null,C(`code`,null,i)),l!==void 0&&C(`p`,null,`${L(l,`byte`)} a lane${p}, ${L(u??0,`instruction`)} and ${L(d??0,`wavefront`)} of all warps (ideal ${f})${a>1?`, ${a} times`:``}.`),ln(o.reasons))}#u({how:e,runs:t,layout:n,cost:r,bound:i,times:a,next:o},s){return C(`div.known`,null,C(`h3`,null,`The product accumulates in ${s.of(n)}`),C(`p`,null,C(`code`,null,e),`, ${t} a warp: ${I(r)} cycles of the block, the cheapest way alone ${I(i)}${a>1?`, ${a} times`:``}.`),this.#f(o,s))}#d({scope:e,loops:t,cost:n,reasons:r}){return C(`div.known`,null,C(`h3`,null,`The ${e} waits${t.length>0?` in each round`:``}`),C(`p`,null,`${I(n)} cycles. Without it there would be a race:`),C(`ul`,null,r.map(e=>C(`li`,null,un(e)))))}#f(e,t){return e?C(`p.note`,null,`Next best ${t.of(e.layout)}: ${I(e.more)} cycles more in all.`):null}#p(e){return e.all.length===0?null:C(`details.layouts`,null,C(`summary`,null,L(e.all.length,`layout`)),C(`dl.names`,null,e.all.flatMap((e,t)=>[C(`dt`,null,`L${t}`),C(`dd`,null,C(`code`,null,e))])))}#m(e,t){let n=e.includes(`dim1`)?`grid`:`hardware`;this.#n.textContent=`${t.of(e)}, ${n===`grid`?`who holds each element`:`what each register holds`}`;let r=[e,...t.all.filter(t=>t!==e)];this.#r.setAttribute(`href`,xt(r.map(e=>({name:t.of(e),text:e})),[])),this.#i(async t=>{try{let{picture:r}=await this.#e.engine.invoke({request:`layout`,attribute:e,format:`svg`,picture:n});t()&&this.#t.show(r??``)}catch(e){if(!t())return;this.#t.clear(),this.#n.textContent=e instanceof Error?e.message:String(e)}})}};function ln(e=[]){return e.map(e=>C(`p.because`,null,un(e)))}function un(e){return`${dn(Pt(e))}.`}function dn(e){return`${e.charAt(0).toUpperCase()}${e.slice(1)}`}var fn=e=>e>1?` × ${e}`:``,pn=e=>e>1?`, ${e} times`:``;function mn({homes:e},t){return e.map(({value:e,layout:n,buffers:r,reason:i})=>{let a=r?` in shared memory (${Nt(r)})`:``;return C(`span`,{class:`mark home${i===`pinned`?` pinned`:``}`,title:`${e} lives${a} in ${t.of(n)}: ${n}`},r?`shared ${t.of(n)}`:t.of(n))})}function hn({products:e,movements:t,accesses:n,shared:r,barriers:i},a){let o=({from:e,to:t,cost:n,times:r,value:i})=>C(`span.mark.moves`,{title:`${i} moves from ${a.of(e)} to ${a.of(t)}: ${I(n)} cycles a warp${pn(r)}`},`${a.of(e)} → ${a.of(t)} ${I(n)}${fn(r)}`),s=({vector_bytes:e,instructions:t,sectors:n,ideal_sectors:r,layout:i,times:o})=>C(`span.mark.touches`,{class:`mark touches${n>r?` wasteful`:``}`,title:`${e} bytes a lane in ${a.of(i)}, ${t} instructions a warp, ${n} sectors each of at least ${r}${pn(o)}`},`${e} B × ${t} in ${a.of(i)}${fn(o)}`),c=({how:e,runs:t,layout:n,times:r})=>C(`span.mark.multiplies`,{title:`${e}, ${t} a warp, its sum in ${a.of(n)}${pn(r)}`},`${zt(e)} × ${t}${fn(r)}`),l=({kind:e,memory:t,wavefronts:n,ideal:r,times:i})=>C(`span`,{class:`mark touches shared${(n??0)>(r??0)?` wasteful`:``}`,title:`${e} of ${t}${n===void 0?``:`: ${n} wavefronts of all warps, at least ${r}`}${pn(i)}`},`shared ${e}${n===void 0?``:`, ${n} wavefronts`}${fn(i)}`);return[...t.map(o),...n.map(s),...r.map(l),...e.map(c),...i.map(({scope:e,cost:t,reasons:n})=>C(`span.mark.waits`,{title:`the ${e} waits, ${I(t)} cycles: ${Pt(n.join(`; `))}`},e===`block`?`barrier`:`warp barrier`))]}var gn=class{#e=new Map;#t=new Map;constructor(e){let t=(e,t,n)=>{let r=Mt(t??null);r!==void 0&&!e.get(r)?.includes(n)&&e.set(r,[...e.get(r)??[],n])};for(let n of e?.findings??[])t(this.#e,n.actor.place,n),t(this.#e,n.other?.place,n);for(let n of e?.accesses??[])t(this.#t,n.place,n)}findings(e){return[...new Set(e.flatMap(e=>this.#e.get(e)??[]))]}accesses(e){return e.flatMap(e=>this.#t.get(e)??[])}marks(e){let t=[...new Set(this.findings(e).map(({kind:e})=>e))],n=(t,n)=>{let r=this.accesses(e).filter(e=>e.space===t),[i,a]=[r.reduce((e,t)=>e+t.cost,0),r.reduce((e,t)=>e+t.ideal,0)];if(i===0)return[];let o=`on the simulator ${i} ${n} of ${t} memory, at least ${a}`;return[C(`span`,{class:`mark counted${i>a?` wasteful`:``}`,title:o},`${i}${i>a?` of ${a}`:``} ${n}`)]};return[...t.map(t=>C(`span.mark.found`,{title:this.findings(e).filter(e=>e.kind===t).map(({message:e})=>e).join(`; `)},t)),...n(`global`,`sectors`),...n(`shared`,`wavefronts`)]}},_n=[`comment`,`string`,`value`,`digits`,`word`],vn={python:/(#.*)|("(?:[^"\\]|\\.)*"?)|(@\w[\w.]*)|\b(\d[\w.]*)\b|\b(def|for|in|if|else|elif|while|return|and|or|not|None|True|False|import|from|as|lambda)\b/g,mlir:/(\/\/.*)|("(?:[^"\\]|\\.)*")|(%\w+|#\w[\w.]*)|\b(\d[\w.]*)\b|\b((?:tt|ttg|arith|math|scf|cf|func)\.\w[\w.]*)/g,ptx:/(\/\/.*)|("(?:[^"\\]|\\.)*")|(%\w[\w.]*)|\b(0[fxd][\dA-Fa-f]+|\d+)\b|^\s*(?:@!?%\w+\s+)?(\.?[a-z][\w.:]*)/g,c:/(\/\/.*|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*")|(#\w+)|\b(\d[\w.]*)\b|\b(const|float|double|int|unsigned|char|short|long|bool|void|if|else|for|while|do|return|asm|volatile|__\w+__)\b/g,sass:/(\/\*.*?\*\/|\/\/.*)|("[^"]*")|\b(U?[RP]\d+|U?RZ|U?PT)\b|\b(0x[\da-f]+|\d+)\b|\b([A-Z][A-Z\d]*(?:\.[\w.]+)?)\b/g};function yn(e,t){let n=[],r=0;for(let i of e.matchAll(vn[t])){let t=i.slice(1).findIndex(e=>e!==void 0),a=i[t+1];if(a===void 0)continue;let o=i.index+i[0].lastIndexOf(a);o>r&&n.push(e.slice(r,o)),n.push(C(`i`,{class:_n[t]},a)),r=o+a.length}return r<e.length&&n.push(e.slice(r)),n}var bn=24,xn=class{id;element;head=C(`div.head`);#e=C(`p.note`);#t;#n;#r=[];#i=[];#a=[];constructor(e){let{id:t,title:n}=e;this.id=t,this.#n=e,this.#t=C(`div.listing`,{role:`group`,"aria-label":`${n}, line by line`,tabindex:-1}),this.element=C(`section.pane`,{"data-pane":t,"aria-label":n},C(`header`,null,C(`h2`,null,n),this.head),this.#e,this.#t),this.#t.addEventListener(`pointerover`,e=>this.#c(e.target)),this.#t.addEventListener(`pointerleave`,()=>e.pointed([])),this.#t.addEventListener(`focusin`,e=>this.#c(e.target)),this.#t.addEventListener(`focusout`,()=>e.pointed([])),this.#t.addEventListener(`keydown`,e=>this.#u(e))}get lines(){return this.#a}say(e){T(this.#e,typeof e==`string`?e:[...e]),this.#e.hidden=e.length===0}show(e,t=()=>({})){this.#a=e,this.#r=[],this.#i=[];let n=String(e.at(-1)?.number??0).length;this.#t.style.setProperty(`--digits`,`${Math.max(2,n)}ch`);let r=e.map(t);this.element.classList.toggle(`warm`,r.some(({heat:e=0})=>e>0)),this.element.classList.toggle(`housed`,r.some(({homes:e=[]})=>e.length>0));let i=e.map((e,t)=>this.#o(e,r[t]));T(this.#t,Array.from({length:Math.ceil(i.length/bn)},(e,t)=>{let n=i.slice(t*bn,(t+1)*bn);return C(`div.stretch`,{style:`--lines: ${n.length}`},n)})),this.#t.hidden=e.length===0,this.#l(this.#r[0]?.[0]),this.#t.tabIndex=this.#r.length>0?-1:0}#o(e,{homes:t=[],marks:n=[],heat:r=0}){let i=Math.round(r*100),a=[C(`span.number`,{"aria-hidden":`true`},String(e.number)),r>0&&C(`span.heat`,{title:`${(r*100).toFixed(1)} % of all that the kernel costs`,style:`--heat: ${Math.sqrt(r).toFixed(3)}`},i>0?`${i} %`:``),t.length>0&&C(`span.homes`,null,t),C(`code`,{style:`--indent: ${/^ */.exec(e.text)[0].length}`},yn(e.text,this.#n.language)),n.length>0&&C(`span.marks`,null,n)];if(e.of.length===0)return C(`div.line`,{"data-line":e.number},a);let o=C(`button.line`,{type:`button`,tabindex:-1,"data-line":e.number,onclick:()=>this.#n.chosen(e)},a);return this.#r.push([o,e]),o}light(e){for(let e of this.#i)e.classList.remove(`lit`);this.#i=e.size===0?[]:this.#s(e);for(let e of this.#i)e.classList.add(`lit`)}select(e){for(let[t,n]of this.#r)t.setAttribute(`aria-pressed`,String(n.of.some(t=>e.has(t))));let[t]=this.#s(e);t&&this.#l(t)}distance(e){let[t]=this.#s(e);if(!t)return 0;let[n,r]=[this.#t.getBoundingClientRect(),t.getBoundingClientRect()];return r.top<n.top||r.bottom>n.bottom?r.top-n.top-n.height/3:0}scrollBy(e){e!==0&&(this.#t.scrollTop+=e)}#s(e){return this.#r.flatMap(([t,n])=>n.of.some(t=>e.has(t))?[t]:[])}#c(e){let t=e instanceof Element?e.closest(`button.line`):null,n=this.#r.find(([e])=>e===t);this.#n.pointed(n?.[1].of??[])}#l(e){this.#t.querySelector(`button.line[tabindex="0"]`)?.setAttribute(`tabindex`,`-1`),e?.setAttribute(`tabindex`,`0`)}#u(e){let t=this.#r.findIndex(([e])=>e===document.activeElement),n=this.#r.length-1,r={ArrowDown:t+1,ArrowUp:t-1,Home:0,End:n}[e.key],i=r===void 0||t<0?void 0:this.#r[Math.min(n,Math.max(0,r))]?.[0];i&&(e.preventDefault(),this.#l(i),i.focus())}},Sn=e=>e?.ptx??e?.cuda??e?.hip??``,Cn=e=>e.split(`
`).filter(e=>/^\s+[^/\s.].*;/.test(e)).length,wn=class{element;#e;#t;#n=C(`div.which`,{role:`group`,"aria-label":`Panes`});#r=C(`div.panes`);#i;#a;#o;#s;#c=new R;#l=``;#u;#d;constructor(e){this.#e=e;let t=e=>{let t=new Set(e);for(let e of Object.values(this.#t))e.light(t)},n=(e,n,r)=>{let i=new xn({id:e,title:n,language:r,pointed:t,chosen:e=>this.#f(i,e)});return i};this.#t={python:n(`python`,`Python`,`python`),ir:n(`ir`,`Triton IR`,`mlir`),other:n(`other`,`Compared with`,`mlir`),code:n(`code`,`Code`,`ptx`),sass:n(`sass`,`SASS`,`sass`)},this.#i=Ke(`Language`,[{value:`ptx`,label:`PTX`},{value:`cuda`,label:`CUDA C++`}],t=>e.set({code:t}));let r=We(`Copy`,()=>this.#l.replace(/^\s*\/\/ text:\d+\n/gm,``));T(this.#t.code.head,this.#i.element,r),this.#a=j(`The Python source`,t=>e.set({source:t.trim()===``?``:t}),{lines:6,hint:`The whole file or only the kernel's function; it is read when you leave the field.`}),T(this.#t.python.head,C(`details.paste`,null,C(`summary`,null,`Paste`),this.#a.element)),this.#o=j(`A listing`,t=>e.set({sass:t.trim()===``?``:t}),{lines:6,hint:`The output of nvdisasm -g (a cubin of Triton's, or of weft compile --line-info) or nvdisasm -gp (other PTX, through ptxas -lineinfo). Its comments say which lines belong together.`}),T(this.#t.sass.head,C(`details.paste`,null,C(`summary`,null,`Paste`),this.#o.element)),this.#s=j(`Another text of the kernel`,t=>e.set(t.trim()===``?{other:``,against:``}:{other:t,against:rn}),{lines:6,hint:`Triton's TTGIR (kernel.asm["ttgir"]), or Triton IR of another version; lines are matched through their Python source.`}),T(this.#t.other.head,C(`details.paste`,null,C(`summary`,null,`Paste`),this.#s.element)),T(this.#r,Object.values(this.#t).map(({element:e})=>e)),this.element=C(`section.card.linked`,{"aria-label":`The texts`},C(`header`,null,this.#n,Tn()),this.#r)}from(e,t){return new R(e.lines).from(t)}show({state:e,now:t,names:n,code:r,before:i,run:a,other:o,chosen:s}){let{python:c,ir:l,code:u,sass:d,other:f}=this.#t;this.#c=new R(t.lines),this.arrange(e),this.#i.set(e.code),this.#i.element.hidden=r?.hip!==void 0,this.#a.set(e.source),this.#o.set(e.sass),this.#s.set(e.other);let[p,m,h]=[Ft(t),Xt(t),new gn(a)],g=en(e);if(c.show(this.#c.shown(g,t.name),({of:e})=>({heat:m(e),marks:h.marks(e)})),c.say(this.#c.file===void 0?`This IR has no source locations; Triton writes them unless it is told not to.`:g===``?[C(`code`,null,this.#c.file),` as far as the IR mentions it; paste the file to read it here.`]:``),l.show(Gt(B(e)),({number:e,of:t})=>{let r=p.get(e);return{heat:m(t),homes:r?mn(r,n):[],marks:[...r?hn(r,n):[],...h.marks(t)]}}),l.say(``),o){let[e,t,r]=[Ft(o.answer),Xt(o.answer),n.with(o.answer)];f.show(Kt(o.text,new R(o.answer.lines),this.#c),({number:n})=>{let i=e.get(n);return{heat:t([n]),homes:i?mn(i,r):[],marks:i?hn(i,r):[]}})}else f.show([]);f.say(o?`${o.name}, priced for ${o.answer.target}; layouts of one name are the same`:e.other===``?`What Triton makes of the kernel: paste its TTGIR.`:``),this.#l=Sn(r);let _=qt(this.#l);u.show(_);let[v,y]=[Cn(this.#l),i?Cn(Sn(i)):void 0],ee=y===void 0||y===v?``:`, ${Math.abs(v-y)} ${v>y?`more`:`fewer`} than without the pins`;u.say(r?`${r.hip===void 0?``:`HIP C++, `}${L(_.length,`line`)}, ${L(v,`instruction`)}${ee}`:``),d.show(e.sass===``?[]:Jt(e.sass,this.#c,_,this.#l)),d.say(e.sass===``?`What the assembler makes of it: paste a disassembler's listing.`:``),this.select(s)}select(e){let t=new Set(e),n=Object.values(this.#t);for(let e of n)e.select(t);let r=n.filter(e=>e!==this.#u),i=()=>{let e=r.map(e=>e.distance(t));for(let[t,n]of r.entries())n.scrollBy(e[t]);return e.some(e=>e!==0)};this.#u=void 0,this.#d=t,i()&&requestAnimationFrame(()=>requestAnimationFrame(()=>this.#d===t&&i()))}#f(e,t){this.#u=e,e===this.#t.python?this.#e.set({python:t.number,line:0}):this.#e.set({line:t.of[0]??0,python:0})}arrange(e){let t=Object.values(this.#t),n=t=>t===`sass`?e.sass===``:t===`other`&&an(e)?.ttir===void 0,r=t=>n(t)?!e.away.includes(`+${t}`):e.away.includes(t);for(let{id:e,element:n}of t)n.hidden=r(e);let i=t.filter(({id:e})=>!r(e));this.#r.classList.toggle(`many`,i.length>3);for(let e of t)e.element.classList.toggle(`last`,i.length%2==1&&e===i.at(-1));this.#n.childElementCount===0&&T(this.#n,t.map(({id:e,element:t})=>C(`button.shows`,{type:`button`,"data-shows":e},t.getAttribute(`aria-label`))));for(let t of this.#n.children){let i=t.dataset.shows,a=n(i)?`+${i}`:i;t.setAttribute(`aria-pressed`,String(!r(i))),t.onclick=()=>this.#e.set({away:e.away.includes(a)?e.away.filter(e=>e!==a):[...e.away,a]})}}};function Tn(){let e=(e,t=``)=>[C(`span`,null,e,t&&` ${t}`),` `];return C(`p.key`,null,e(C(`span.scale`,{"aria-hidden":`true`}),`share of the cost`),e(C(`span.mark.home`,null,`L0`),`lives there`),e(C(`span.mark.moves`,null,`L0 → L1`),`moves`),e(C(`span.mark.touches`,null,`16 B`),`memory`),e(C(`span.mark.multiplies`,null,`mma`),`product`),e(C(`span.mark.waits`,null,`barrier`)))}var En=class{element;#e=new Map;#t=C(`p.teaches`);#n;#r;#i;#a;#o;constructor(e,t){for(let{id:t,name:n}of Zt)this.#e.set(t,C(`button.example`,{type:`button`,"data-example":t,onclick:()=>e.set({...$t,preset:t,text:``})},n));let n=C(`button.example`,{type:`button`,"data-example":``,onclick:()=>(this.open(),this.#a.input.focus())},`Your own…`);this.#e.set(``,n),this.#n=dt(`Machine`,e.engine,t=>e.set({target:t,pins:[],run:!1})),this.#r=N(`Warps`,[{value:`0`,label:`as the text says`},...[`1`,`2`,`4`,`8`,`16`,`32`].map(e=>({value:e,label:e}))],t=>e.set({warps:t,pins:[],run:!1})),this.#i=M(`Name`,e=>ot(e,this.#a.input.value),t=>e.set({...$t,kernel:t}),{hint:`If the IR has several kernels.`}),this.#a=j(`Triton IR`,t=>{let n=Zt.find(e=>e.text.trim()===t.trim());e.set({...$t,...n?{preset:n.id,text:``}:{text:t}})},{lines:14,hint:'What `kernel.asm["ttir"]` holds, or `python examples/record.py` writes. It is read when you leave the field or press Ctrl+Enter, and becomes part of the address.'}),this.#o=C(`details`,null,C(`summary`,null,`The text`),C(`div.stack.tight`,null,this.#a.element,this.#i.element)),this.element=C(`section.card.asked`,{"aria-label":`The kernel`},C(`div.strip`,{role:`group`,"aria-label":`Examples`},[...this.#e.values()]),C(`div.columns`,null,this.#n.element,this.#r.element,t),C(`div.told`,null,this.#t,this.#o))}open(){this.#o.open=!0}update(e){let t=z(e);for(let[e,n]of this.#e)n.setAttribute(`aria-pressed`,String(e===(t?.id??``)));T(this.#t,t?.teaches??`Your own kernel. Point at a line of any pane to see where it came from and what became of it.`),this.#n.set(e.target),this.#r.set(e.warps),this.#i.set(e.kernel),this.#a.set(B(e))}};function Dn({spans:e}){return[...new Set(e.map(({work:e})=>e))].map(t=>({work:t,spans:e.filter(e=>e.work===t)}))}function On({spans:e}){return Math.max(1,...e.map(({end:e})=>e))}function kn({spans:e}){return e.reduce((e,{start:t,end:n})=>e+n-t,0)}function An({spans:e},t,n=1/0){let r=({start:e,end:n})=>Math.max(e-t,t-n,0),i=e.reduce((e,t)=>e===void 0||r(t)<r(e)?t:e,void 0);return i&&r(i)<=n?i:void 0}function jn({work:e,start:t,end:n},r){let i=r.filter(r=>r.work!==e&&r.spans.some(e=>e.start<n&&e.end>t)),a=i.length>0?`: meanwhile ${i.map(e=>e.work).join(`, `)}`:``;return`${e}: from ${I(t)}, to ${I(n)}, cycles ${I(n-t)}${a}`}function Mn({first_warp:e,warps:t}){return t>1?`warps ${e} to ${e+t-1}`:`warp ${e}`}var Nn=5;function Pn(e){let t=e/Nn,n=10**Math.floor(Math.log10(t)),r=[1,2,5,10].map(e=>e*n).find(e=>e>=t)??e;return Array.from({length:Math.floor(e/r)+1},(e,t)=>t*r)}var Fn=.005,In=3,Ln=e=>`${Math.round(100*e)} %`,Rn=class{element=C(`section.card.rounds`,{"aria-label":`A round of each loop`});#e;constructor(e){this.#e=e}show({rounds:e}){this.element.hidden=e.length===0,T(this.element,C(`header`,null,C(`h2`,null,`A round of each loop`),C(`p`,null,`By a model: one block alone, its data in the L2 cache. Times are means of the last rounds; the last one is drawn.`)),e.map(e=>this.#t(e)))}#t(e){let{place:t,time:n,busy:r,verdict:i,side_by_side:a,bytes:o,memories:s}=e,c=Mt(t),l=c===void 0?null:C(`button.quiet.instead`,{type:`button`,onclick:()=>this.#e.set({line:c,python:0})},`Line ${c}`);return C(`article.round`,{"data-round":t??``},C(`h3`,null,l??Pt(t??`A loop`),C(`span`,null,`${Mn(e)}: `,C(`strong`,null,`${I(n)} cycles`))),C(`p.verdict`,null,Bn(i)),C(`div.halves`,null,new zn(e).element,C(`div.stack.tight`,null,C(`h4`,null,`How busy units are`),C(`dl.units`,null,r.filter(e=>e.time>=Fn*n).flatMap(({unit:e,time:t})=>[C(`dt`,null,e),C(`dd.meter`,{style:`--share: ${(t/n).toFixed(3)}`,"aria-hidden":`true`}),C(`dd.number`,{title:`${I(t)} cycles`},Ln(t/n))])),C(`p.note`,null,`${Bn(a)}.`),s.map(({memory:e,time:t,reason:n})=>C(`p.note`,{"data-memory":e},`${e}: ${o.toLocaleString(`en`)} bytes, at least ${I(t)} cycles at ${n}.`)))))}},zn=class{element;#e;#t;#n=C(`i.cursor`,{hidden:!0});#r=C(`p.says`,{"aria-live":`polite`});#i=new Te;#a;#o;constructor(e){this.#e=Dn(e),this.#t=On(e);let t=e=>100*e/this.#t,n=Pn(this.#t);this.#a=C(`div.tracks`,null,this.#e.map(e=>C(`div.track`,{"data-work":e.work},this.#s(e))),n.map(e=>C(`i.mark-line`,{style:`left: ${t(e)}%`})),this.#n);let r=C(`div.clock`,{tabindex:0,role:`group`,"aria-label":`What warp ${e.first_warp} does in a round, on a clock; arrow keys go from stretch to stretch`},C(`ul.works`,null,this.#e.map(({work:e})=>C(`li`,null,e))),this.#a,C(`ul.shares`,null,this.#e.map(e=>C(`li`,{title:`${I(kn(e))} cycles`},Ln(kn(e)/this.#t)))),C(`div.axis`,{"aria-hidden":`true`},n.map(e=>C(`span`,{style:`left: ${t(e)}%`,class:t(e)>90?`last`:null},(e/100).toLocaleString(`en`)))));this.element=C(`figure.stack.tight`,null,C(`h4`,null,`What warp ${e.first_warp} does in a round of ${I(this.#t)} cycles`),r,this.#i.element,C(`figcaption`,null,this.#r)),this.#a.addEventListener(`pointermove`,e=>this.#c(e)),this.#a.addEventListener(`pointerdown`,e=>this.#c(e)),this.#a.addEventListener(`pointerleave`,()=>this.#l(void 0)),r.addEventListener(`blur`,()=>this.#l(void 0)),r.addEventListener(`keydown`,e=>this.#u(e))}#s({spans:e}){let t=e.map(({start:e,end:t})=>`M${e} 0H${t}V1H${e}Z`).join(``);return w(`svg`,{viewBox:`0 0 ${this.#t} 1`,preserveAspectRatio:`none`,"aria-hidden":`true`},w(`path`,{d:t}))}#c(e){let{left:t,width:n}=this.#a.getBoundingClientRect(),r=e.target instanceof Element?e.target.closest(`.track`):null,i=this.#e.findIndex(({work:e})=>e===r?.dataset.work),a=this.#e[i],o=a&&An(a,(e.clientX-t)/n*this.#t,In/n*this.#t);this.#l(o&&{lane:i,span:o}),this.#i.beside(e.clientX,e.clientY)}#l(e){if(e?.span===this.#o?.span)return;this.#o=e;let t=e?jn(e.span,this.#e):``;this.#r.textContent=t,this.#i.show(t),this.#n.hidden=!e;for(let[t,n]of this.#a.querySelectorAll(`.track`).entries())n.classList.toggle(`pointed`,t===e?.lane);if(!e)return;let{start:n,end:r}=e.span;this.#n.style.left=`${100*n/this.#t}%`,this.#n.style.width=`${100*(r-n)/this.#t}%`}#u(e){if(e.key===`Escape`){this.#l(void 0);return}let t=this.#d(e.key);if(!t)return;e.preventDefault(),this.#l(t);let{right:n,bottom:r}=this.#n.getBoundingClientRect();this.#i.beside(n,r)}#d(e){let t={ArrowUp:-1,ArrowDown:1}[e],n={ArrowLeft:-1,ArrowRight:1,Home:-1/0,End:1/0}[e];if(t===void 0&&n===void 0)return;let r=(e,t)=>Math.min(Math.max(e,0),t-1),i=this.#o?r(this.#o.lane+(t??0),this.#e.length):0,a=this.#e[i]?.spans??[];if(!this.#o)return a[0]&&{lane:i,span:a[0]};let{start:o,end:s}=this.#o.span,c=r(a.indexOf(this.#o.span)+(n??0),a.length),l=n===void 0?An({work:a[0].work,spans:a},(o+s)/2):a[c];return l&&{lane:i,span:l}}};function Bn(e){return`${e.charAt(0).toUpperCase()}${e.slice(1)}`}function Vn(e,t){let n=e.search(RegExp(`@"?${t.replace(/\W/g,`\\$&`)}"?\\(`));if(n<0)return[];let r=e.slice(e.indexOf(`(`,n)+1);return[...r.slice(0,r.search(/\)\s*(?:->|attributes|\{\s*\n|loc\()/)).matchAll(/%(\w+):\s*(!tt\.ptr<[^>]*>|[\w.]+)\s*(\{[^}]*\})?/g)].map(([,e=``,t=``,n=``])=>({name:e,type:t.replace(/^!tt\.ptr<(\w+).*>$/,`ptr<$1>`),divisibility:Number(/tt\.divisibility = (\d+)/.exec(n)?.[1]??1)}))}var Hn=4096;function Un({type:e,divisibility:t}){let n=/^ptr<(.*)>$/.exec(e)?.[1];return n===void 0?/^i1$/.test(e)?`true`:/^f|^bf/.test(e)?`1.0`:String(64*t):`random:${n}[${Hn}]`}var Wn=e=>/^[\w.,:=/+-]+$/.test(e)?e:`'${e.replaceAll(`'`,`'\\''`)}'`;function Gn(e,t){let{grid:n,args:r}=Kn(e,t),i=[[`--target`,e.target],[`--grid`,n.replaceAll(`×`,`x`)],...Object.entries(r).map(([e,t])=>[`--arg`,`${e}=${t}`]),...e.kernel===``?[]:[[`--kernel`,e.kernel]],...e.warps===`0`?[]:[[`--warps`,e.warps]],...e.pins.map(e=>[`--pin`,e]),...e.seed===0?[]:[[`--seed`,String(e.seed)]]];return[`weft run`,`${t}.ttir`,...i.map(([e,t])=>`${e} ${Wn(t)}`)].join(` `)}function Kn(e,t){let n=z(e),r=e=>Object.fromEntries(e.map(e=>[e.slice(0,e.indexOf(`=`)),e.slice(e.indexOf(`=`)+1)])),[i,a]=[r(n?.args.split(` `)??[]),r(e.args)],o=Vn(B(e),t).map(e=>{let{name:t}=e;return[t,a[t]??i[t]??Un(e)]});return{grid:e.grid===``?n?.grid??`1`:e.grid,args:Object.fromEntries(o)}}var qn=class{element;#e;#t=C(`div.columns.arguments`);#n=C(`div.stack.tight`,{"aria-live":`polite`});#r=new O;#i;#a;#o=C(`code`);#s=new Map;#c=``;#l={};#u;#d=``;constructor(e){this.#e=e,this.#i=M(`Blocks`,et,t=>e.set({grid:t,run:!1}),{hint:`8, or 4x2 along x and y`}),this.#a=C(`button.primary`,{type:`button`,onclick:()=>this.#f()},`Run on the simulator`),this.element=C(`section.card.runner`,{"aria-label":`A run`},C(`header`,null,C(`h2`,null,`Run it`),C(`p`,null,`Thread by thread, without a GPU: every access is checked, wavefronts and sectors are counted from the addresses, and the result is compared with what the IR computes.`)),C(`div.stack.tight`,null,this.#t,C(`div.row`,null,this.#a),this.#r.element,this.#n,C(`div.as-command`,null,C(`p.label`,null,`The same in a shell or in CI; the exit status tells whether it passed`),C(`div.code`,null,this.#o,We(`Copy`,()=>this.#o.textContent??``)))))}update(e,t){this.#u=e;let n=Kn(e,t);this.#l=Kn({...e,args:[]},t).args;let r=Vn(B(e),t),i=r.map(({name:e,type:t})=>`${e}: ${t}`).join();i!==this.#c&&(this.#c=i,this.#s=new Map(r.map(({name:e,type:t})=>[e,M(`${e}: ${t}`,n=>nt(n,t,this.#l[e]??``),t=>this.#p(e,t))])),T(this.#t,this.#i.element,[...this.#s.values()].map(({element:e})=>e))),this.#i.set(n.grid);for(let[e,t]of this.#s)t.set(n.args[e]??``);this.#o.textContent=Gn(e,t)}async run(e,t,n){if(this.element.setAttribute(`aria-busy`,`false`),!e.run){this.#r.clear(),T(this.#n),this.#d=``;return}let{grid:r,args:i}=Kn(e,t),a={request:`run`,ttir:B(e),...e.kernel!==``&&{kernel:e.kernel},target:e.target,...e.warps!==`0`&&{warps:Number(e.warps)},...e.pins.length>0&&{pins:e.pins},grid:r.split(/[x×,]/).map(e=>Number(e.trim())),args:i,seed:e.seed,text_places:!0},o=JSON.stringify(a);o!==this.#d&&(this.element.setAttribute(`aria-busy`,`true`),T(this.#n,C(`p.note`,null,`The simulator runs…`)));try{let e=await this.#e.engine.invoke(a,n.unwanted);return n()?(this.#d=o,this.#r.clear(),this.#m(e),e):void 0}catch(e){if(!n())return;this.#d=``,T(this.#n),this.#r.show(e);return}finally{n()&&this.element.setAttribute(`aria-busy`,`false`)}}#f(){let e=this.#u?.run===!0;this.#e.set({run:!0,...e&&{seed:(this.#u?.seed??0)+1}})}#p(e,t){let n=(this.#u?.args??[]).filter(t=>!t.startsWith(`${e}=`));this.#e.set({args:[...n,`${e}=${t}`],run:!1})}#m(e){let{passed:t,counts:n,buffers:r,findings:i,findings_dropped:a,evaluator:o,printed:s=[],grid:c,threads:l}=e;this.#a.textContent=`Run again, with other numbers`;let u=t?`Correct: every element is as the IR computes it, and no error was found.`:i.length>0?`${L(i.length+a,`finding`)}.`:`Wrong.`,d=(e,t,n)=>C(`div`,null,C(`dt`,null,e),C(`dd.value`,null,t.toLocaleString(`en`)),n!==void 0&&C(`dd.note`,null,t>n?`at least ${n.toLocaleString(`en`)}`:`none wasted`));T(this.#n,C(`p.badges`,null,C(`span`,{class:`badge ${t?`good`:`bad`}`,"data-passed":t},C(`strong`,null,u))),i.length>0&&C(`ul.findings`,null,i.map(e=>C(`li`,null,this.#h(e)))),o!==null&&i.length===0&&C(`p`,null,Pt(o)),C(`dl.figures`,{"aria-label":`Counted`},d(`Global memory sectors`,n.global_sectors,n.ideal_global_sectors),d(`Shared memory wavefronts`,n.shared_wavefronts,n.ideal_shared_wavefronts),d(`Warp instructions`,n.instructions),d(`Exchanges between lanes`,n.shuffles),d(`Blocks`,c.reduce((e,t)=>e*t,1)),d(`Threads per block`,l)),r.length>0&&C(`div.scroll`,{tabindex:0,role:`group`,"aria-label":`Buffers`},C(`table.data`,null,C(`caption.spoken`,null,`Buffers after the run`),C(`thead`,null,C(`tr`,null,[`buffer`,`holds`,`after the run`].map(e=>C(`th`,{scope:`col`},e)))),C(`tbody`,null,r.map(e=>C(`tr`,{"data-buffer":e.name},C(`th`,{scope:`row`},e.name),C(`td`,null,`${e.elements.toLocaleString(`en`)} × ${e.element}`),C(`td`,{class:e.agrees?null:`worse`},e.agrees?e.changed?e.exact?`as expected, bit for bit`:`as expected, within ${(e.max_relative_error??0).toExponential(1)}`:`unchanged`:e.mismatch??`differs`)))))),s.length>0&&C(`div.code`,null,C(`pre`,{tabindex:0,"aria-label":`Printed`},s.join(`
`))))}#h({kind:e,message:t,actor:n,other:r,count:i,hint:a}){let o=[...new Set([Mt(n.place),Mt(r?.place??null)])].filter(e=>e!==void 0);return[C(`p`,null,C(`span.mark.found`,null,e),` ${Pt(t)}${i>1?`, ${i} times`:``}.`),C(`p.note`,null,`${a.charAt(0).toUpperCase()}${a.slice(1)}. `,o.map(e=>C(`button.quiet.instead`,{type:`button`,onclick:()=>this.#e.set({line:e,python:0})},`Line ${e}`)))]}},Jn=1024,Yn=e=>e>=Jn&&e%64==0?`${Number((e/Jn).toFixed(1))} KiB`:`${e} B`,Xn=e=>(e/100).toLocaleString(`en`,{maximumFractionDigits:0}),Zn=class{element=C(`dl.figures`,{"aria-label":`In figures`});show(e,t,n){let r=Yt(t);T(this.element,[{id:`cycles`,name:`Cycles per block`,value:e=>Xn(Ht(e)),note:({choice:e,greedy:t})=>e?e.cost===e.bound?t?`no choice costs less`:``:`at least ${Xn(e.bound)}`:`as the text says`},{id:`occupancy`,name:`Occupancy`,value:({occupancy:{warps:e,most_warps:t}})=>`${Math.round(e/t*100)} %`,note:({occupancy:{blocks:e,limit:t}})=>`${L(e,`block`)}: no more ${t}`},{id:`registers`,name:`Registers per thread`,value:t=>t===e&&r!==void 0?String(r):`≤ ${t.occupancy.registers}`,note:t=>t===e&&r!==void 0?r<=t.occupancy.registers?`in the listing: all these blocks fit`:`in the listing, more than ${t.occupancy.registers}: fewer blocks fit`:`keep this occupancy`},{id:`shared`,name:`Shared memory`,value:({shared_bytes:e})=>Yn(e),note:({occupancy:e})=>`of ${Yn(e.shared_bytes)}`},{id:`barriers`,name:`Barriers`,value:({barriers:e})=>String(e.length),note:({barriers:e})=>{let t=e.filter(({loops:e})=>e.length>0).length;return t>0?`${t} in loops`:e.length>0?`none in a loop`:`nobody waits`}},{id:`moves`,name:`Movements`,value:({movements:e})=>String(e.length),note:({movements:e})=>{let t=e.filter(({strategy:e})=>e===`shared memory`).length;return e.length===0?`every value stays`:t>0?`${t} by shared memory`:`none by shared memory`}}].map(({id:t,name:r,value:i,note:a})=>C(`div`,{"data-figure":t},C(`dt`,null,r),C(`dd.value`,null,i(e)),C(`dd.note`,null,a(e)),n&&C(`dd.other`,null,`${n.name}: `,C(`strong`,null,i(n.answer))))))}},Qn=class{element=C(`section.card.totals`,{"aria-label":`What it costs`,"aria-live":`polite`});#e;constructor(e){this.#e=e}show(e,t,n,r){let i=e.pins.length>0&&n!==t;T(this.element,C(`header`,null,C(`h2`,null,`What it costs`),C(`p`,null,`${n.name} for ${n.target}, ${L(n.warps,`warp`)} a block. Cycles per block, over all rounds of loops.`)),C(`div.sides`,null,C(`div`,null,C(`div.scroll`,{tabindex:0,role:`group`,"aria-label":`Costs`},this.#t(t,n,i)),this.#n(n)),e.pins.length>0&&C(`div`,null,this.#r(e,r),i&&this.#i(t,n,r))))}#t(e,t,n){let{greedy:r}=e,i=(e,t)=>C(`td.number`,{class:`number ${t>e?`worse`:t<e?`better`:`same`}`},`${t>e?`+`:t<e?`−`:`±`}${I(Math.abs(t-e))}`),a=(e,t,a,[o,s],c=!1)=>C(`tr`,{"data-row":t,class:c?`sum`:null},C(`th`,{scope:`row`},e),C(`td.number`,{"data-column":`before`},I(o)),n&&C(`td.number`,{"data-column":`after`},I(s)),n&&i(o,s),r&&C(`td.number`,null,a?I(a(r)):``)),o=(n,r)=>a(n,r,e=>e[r],[e.spent[r],t.spent[r]]),s=e=>Ht(e)-e.spent.movements-e.spent.accesses-e.spent.work,c=[s(e),s(t)],l=e=>C(`th.number`,{scope:`col`},e);return C(`table.data`,null,C(`caption.spoken`,null,n?`Costs before and after the pins`:`Costs`),C(`thead`,null,C(`tr`,null,C(`td`,null,``),l(n?`before`:`chosen`),n&&l(`pinned`),n&&l(`change`),r&&l(`greedy`))),C(`tbody`,null,o(`movements`,`movements`),o(`accesses`,`accesses`),o(`work`,`work`),c.some(e=>e>0)&&a(`arithmetic`,`arithmetic`,void 0,c),a(`together`,`total`,void 0,[Ht(e),Ht(t)],!0)))}#n({choice:e,greedy:t}){if(!e)return C(`p.note`,null,`The IR itself says where its values live: nothing was chosen.`);let{cost:n,bound:r}=e;return C(`p.note`,null,n===r?`No choice among the candidates costs less.`:`No choice among the candidates costs less than ${I(r)} cycles.`,t?` “Greedy” chooses as Triton does.`:``)}#r({pins:e},t){if(e.length===0)return null;let n=t=>this.#e.set({pins:e.filter(e=>e!==t)});return C(`div.pins`,null,C(`h3`,null,`Pinned`),C(`ul`,null,e.map(e=>{let r=tn(e),i=e.slice(e.indexOf(`=`)+1).trim(),a=t.of(i);return C(`li`,null,C(`code`,{title:i},`${r} in ${a===`?`?i:a}`),C(`button.quiet`,{type:`button`,onclick:()=>n(e),"aria-label":`Unpin ${r}`},`Unpin`))})),e.length>1&&C(`button.quiet`,{type:`button`,onclick:()=>this.#e.set({pins:[]})},`Unpin all`))}#i(e,t,n){let r=new Map(e.homes.map(({value:e,memory:t,layout:n})=>[`${e} ${t}`,n])),i=t.homes.filter(({value:e,memory:t,layout:n})=>r.get(`${e} ${t}`)!==n),a=e=>e.movements.map(({value:e,from:t,to:r,cost:i,times:a})=>C(`li`,null,C(`code`,null,e),` ${n.of(t)} → ${n.of(r)}, ${I(i)} a warp${a>1?`, ${a} times`:``}`)),o=(e,t)=>{let n=a(t);return C(`div`,null,C(`h3`,null,e),n.length>0?C(`ul.plain`,null,n):C(`p.note`,null,`nothing moves`))};return C(`div.changes`,null,C(`div`,null,C(`h3`,null,`Homes that changed`),i.length>0?C(`ul.plain`,null,i.map(({value:e,memory:t,layout:i})=>{let a=r.get(`${e} ${t}`);return C(`li`,null,C(`code`,null,e),` ${a?n.of(a):`nowhere`} → ${n.of(i)}`)})):C(`p.note`,null,`none`)),o(`Movements without pins`,e),o(`Movements with pins`,t))}};function $n(e,t){let{kernel:n,target:r,warps:i}=e;return{ttir:B(e),...n!==``&&{kernel:n},target:r,...i!==`0`&&{warps:Number(i)},...t.length>0&&{pins:t},text_places:!0}}function er(e,t){return{request:`explain`,...$n(e,t)}}function tr(e,t){return{request:`compile`,...$n(e,t),emit:[e.target.startsWith(`gfx`)?`hip`:e.code]}}function nr(e,n){let r=new on(n),i=new En(n,r.pick.element),a=new Zn,o=new wn(n),s=new Qn(n),c=new cn(n),l=new Rn(n),u=new qn(n),d=new O,f=new O,p=new O,m=C(`div.kernel`,{hidden:!0},a.element,p.element,o.element,C(`div.read`,null,c.element,r.element,l.element,s.element,u.element));T(e,C(`div.intro.wide`,null,C(`h1`,null,`Kernel`),C(`p`,null,`From Python to code, line by line: where every value lives, what moves, what each line costs. Point at a line to see what belongs to it.`)),C(`div.kernel`,null,i.element,d.element,f.element,m));let h=D(),g;function _(e,t){if(e.python>0)return o.from(t,e.python);let n=[...t.lines??[]].sort((e,t)=>t.cost-e.cost)[0],r=n&&n.cost>0?n.line:Math.min(...Ft(t).keys());return[e.line>0?e.line:r]}function v(e){if(!g)return;let{now:t,names:n}=g.told,r=_(e,t);o.arrange(e),o.select(r),c.show(e,r,t,n)}async function y(e,r,h){let v=B(e),{pins:y}=e,[b,x,te,ne]=await n.engine.together([er(e,[]),er(e,y),tr(e,y),tr(e,[])],h.unwanted);if(!h())return;if(b.status===`rejected`){let e=b.reason;if(m.hidden=!0,g=void 0,i.open(),f.clear(),d.show(e,e=>e.kind===`ttir`?v:void 0),!(e instanceof t))throw e;return}d.clear();let re=b.value,ie=x.status===`fulfilled`&&y.length>0,S=x.status===`fulfilled`?x.value:re;if(x.status===`fulfilled`)f.clear();else if(f.show(x.reason,e=>/^`pin`/.test(e.message)?rr(y.at(-1)):void 0),!(x.reason instanceof t))throw x.reason;let ae=new It(re,S),oe=_(e,S),C={now:S,names:ae},w=ie?te:ne;w.status===`fulfilled`?(p.clear(),C.code=w.value):p.show(w.reason),ie&&ne.status===`fulfilled`&&(C.before=ne.value);let T=()=>{g={asked:r,told:C},o.show({state:e,chosen:oe,...C})};m.hidden=!1,a.show(S,e.sass),s.show(e,re,S,ae),c.show(e,oe,S,ae),l.show(S),u.update(e,S.name),T(),m.classList.remove(`waiting`);let[se,ce]=await Promise.all([u.run(e,S.name,h),ee(e,S,h)]);h()&&(se||ce)&&(se&&(C.run=se),ce&&(C.other=ce),T())}async function ee(e,t,i){let o=an(e);if(o)try{let{name:s,ttir:c=B(e),target:l}=o,{kernel:u,...d}=er({...e,target:l},[]),f=await n.engine.invoke(c===B(e)?er({...e,target:l},[]):{...d,ttir:c},i.unwanted);return i()?(a.show(t,e.sass,{name:s,answer:f}),r.show(e,t,f,s),o.ttir===void 0?void 0:{name:s,text:o.ttir,answer:f}):void 0}catch(e){if(!i())return;r.clear(),r.fault.show(e,e=>e.kind===`ttir`?o.ttir:void 0);return}}return{update(e){i.update(e),r.update(e);let t=JSON.stringify({...e,line:0,python:0,away:[]});g?.asked===t?v(e):(m.classList.add(`waiting`),h(n=>y(e,t,n)))},unmount:()=>h.end()}}function rr(e){return e?.slice(e.indexOf(`=`)+1)}var ir={id:`kernel`,title:`Kernel`,fields:Qt,mount:nr};function ar(e){return 31-Math.clz32(e)}function V(e){return{shape:e,columns:ar(e.at(-1)??1),rows:e.slice(0,-1).reduce((e,t)=>e+ar(t),0)}}function or(e,t){let n=e.map(()=>0),r=t;for(let t=e.length-1;t>=0;t--){let i=ar(e[t]??1);if(r<i)return n[t]=2**r,n;r-=i}return n}function H(e,{rows:t,columns:n}){return Array.from({length:t},(t,r)=>(e[r]??0)&2**n-1)}function sr(e,t){let{shape:n,columns:r,rows:i}=t,a=[];for(let t=0;t<r+i;t++){let i=or(n,t),o=t<r?0:e[t-r]??0;i[n.length-1]=(i[n.length-1]??0)^o,a.push(i)}return{offset:a}}function cr(e,t){let{shape:n,columns:r,rows:i}=t,a=e.offset??[];if(a.length!==r+i)return;let o=[];for(let[e,t]of a.entries()){let i=or(n,e),a=(t.at(-1)??0)^(i.at(-1)??0);if(!i.slice(0,-1).every((e,n)=>e===t[n])||e<r&&a!==0)return;e>=r&&o.push(a)}return o}function lr(e,t){let n=Object.entries(e).map(([e,t])=>{let n=t.map(e=>e.length===1?`${e[0]}`:`(${e.join(`,`)})`);return n.length===0?`${e}:`:`${e}: ${n.join(` `)}`}),r=t.map((e,t)=>`dim${t}: ${e}`);return`[${n.join(`, `)}] -> [${r.join(`, `)}]`}function U(e,t){return t===2?e===0?`m`:`n`:t===1?`n`:[`i`,`j`,`k`,`l`,`m`,`n`][e]??`d${e}.`}function W(e,t){return e.replace(/\bdim(\d+)\b/g,(e,n)=>U(Number(n),t))}function ur(e,t){return W(e,t).replace(/>([a-n]) (\d+)<\/text>/g,(e,t,n)=>`>${t}${G(Number(n))}</text>`)}var dr=`₀₁₂₃₄₅₆₇₈₉`;function G(e){return[...String(e)].map(e=>dr[Number(e)]??e).join(``)}function K(e){let t=e.flatMap((t,n)=>{let r=U(n,e.length);return Array.from({length:31},(e,t)=>t).filter(e=>t>>e&1).map(e=>r+G(e))});return t.length===0?`0`:t.join(`⊕`)}function q(e){return e.length===0?`∅`:`{${e.map(K).join(`, `)}}`}function fr(e,t,n){if(e.trim()!==``)return e;let r=V(n);return{bases:sr(H(t,r),r)}}function pr(e){let{rows:t,columns:n}=e,r=r=>H(Array.from({length:t},(e,t)=>t+r<n?2**(t+r):0),e);return[{name:`unswizzled`,folds:H([],e)},{name:`XOR m`,folds:r(0)},{name:`XOR 2m`,folds:r(1)}]}var mr=(e,t,n,r)=>`#ttg.blocked<{sizePerThread = [${e.join(`, `)}], threadsPerWarp = [${t.join(`, `)}], warpsPerCTA = [${n.join(`, `)}], order = [${r.join(`, `)}]}>`,hr=`#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>`,gr=`#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = false}>`,_r=(e,t,n)=>`#ttg.swizzled_shared<{vec = ${e}, perPhase = ${t}, maxPhase = ${n}, order = [1, 0]}>`,vr=[{id:`rows`,name:`Rows, mma, a swizzle`,about:`Four neighbours of a row in each thread (A), the result of a matrix instruction (B), a swizzled memory (S), and three layouts made of them.`,shape:[16,16],layouts:[...bt.layouts.initial]},{id:`paper`,name:`The paper's A and B`,about:`Figure 1 of the paper: A has two by two elements in each thread, and its matrix only permutes bits. B has its threads walk down the columns, so that a row of memory is loaded in more pieces.`,shape:[16,16],layouts:[`A = ${mr([2,2],[4,8],[2,1],[1,0])}`,`B = ${mr([1,1],[16,2],[1,2],[0,1])}`]},{id:`diagonals`,name:`Diagonals of blocks`,about:`One basis says (1,1) and not (1,0): each lane holds a diagonal of a two by two block, and transposing every block moves nothing between lanes.`,shape:[4,4],layouts:[`A = [register: (1,1), lane: (0,1) (0,2) (2,0)] -> [dim0: 4, dim1: 4]`]},{id:`mma`,name:`mma and its operands`,about:`What mma.sync leaves in registers (C), and what it takes: A from the left, B from the right, f16.`,shape:[16,16],element:`f16`,layouts:[`C = ${hr}`,`A = #ttg.dot_op<{opIdx = 0, parent = ${hr}, kWidth = 2}>`,`B = #ttg.dot_op<{opIdx = 1, parent = ${hr}, kWidth = 2}>`]},{id:`mfma`,name:`mfma on 64 lanes`,about:`The result of AMD's matrix instruction: another family by name, a matrix of the same kind.`,shape:[16,16],layouts:[`C = ${gr}`,`A = #ttg.dot_op<{opIdx = 0, parent = ${gr}, kWidth = 4}>`]},{id:`copies`,name:`Copies: a zero column`,about:`Register bit 2 goes to 0: registers 4 to 7 hold what registers 0 to 3 hold.`,shape:[128],layouts:[`A = [register: 1 2 0, lane: 4 8 16 32 64] -> [dim0: 128]`]},{id:`slice`,name:`A slice, a row of sums`,about:`Sums of the rows of a blocked tile (S) lie as a blocked row does (R): two names, one matrix, so that nothing has to move.`,shape:[128],layouts:[`S = #ttg.slice<{dim = 1, parent = ${mr([1,4],[32,1],[4,1],[1,0])}}>`,`R = ${mr([1],[32],[4],[0])}`]},{id:`shear`,name:`Triton's swizzle, a shear`,about:`Eight rows of 64 halves: to the right I, and above it C, which folds the row into the column. P has two rows to a phase, so its lowest row bit folds nothing.`,shape:[8,64],element:`f16`,layouts:[`S = ${_r(8,1,8)}`,`P = ${_r(8,2,4)}`]},{id:`orders`,name:`Row- and column-major`,about:`The two differ in nothing but the order of their bits.`,shape:[4,8],layouts:[`R = (4,8):(8,1)`,`C = (4,8):(1,4)`]},{id:`vect`,name:`NCHW_VECT_C`,about:`cuDNN's layout of images: the two lowest bits of the channel come last. Two images of 8 channels of 2 by 2.`,shape:[2,8,2,2],layouts:[`V = [offset: (0,1,0,0) (0,2,0,0) (0,0,0,1) (0,0,1,0) (0,4,0,0) (1,0,0,0)] -> [dim0: 2, dim1: 8, dim2: 2, dim3: 2]`]},{id:`masks`,name:`Three bits, three masks`,about:`The rows of the matrix are the masks 101, 011 and 111, its columns the images of 1, 2 and 4.`,shape:[8],layouts:[`M = [offset: 7 6 5] -> [dim0: 8]`]},{id:`column`,name:`A column of 128`,about:`128 rows and one column: the neighbours are the rows, and each thread holds four of them.`,shape:[128,1],layouts:[`A = ${mr([4,1],[32,1],[1,1],[0,1])}`]}],yr=class{element;#e=C(`p.about`,{"aria-live":`polite`});#t;#n=new Map;#r;#i=!1;constructor(e){this.#r=e,this.#t=vr.map(t=>{let n=C(`span.thumbnail.matrix`,{"aria-hidden":`true`});return this.#n.set(t,n),C(`button.example`,{type:`button`,title:t.about,"data-example":t.id,onclick:()=>e.set(br(t))},n,C(`span`,null,t.name))}),this.element=C(`section.examples`,{"aria-label":`Examples`},C(`div.strip`,{role:`group`,"aria-label":`Examples`},this.#t),this.#e)}async draw(){if(!this.#i){this.#i=!0;for(let[e,t]of this.#n)await xr(e,t,this.#r)}}update(e){let t=vr.find(({layouts:t,shape:n})=>t.join(`\0`)===e.layouts.join(`\0`)&&n.join()===e.shape.join());for(let e of this.#t)e.setAttribute(`aria-pressed`,String(e.dataset.example===t?.id));this.#e.textContent=t?.about??`Your own layouts.`}};function br({shape:e,element:t=bt.element.initial,layouts:n}){return{shape:e,element:t,layouts:n,shown:mt(n[0]??``)?.name??``,at:``}}async function xr({shape:e,layouts:t},n,{engine:r}){let i=mt(t[0]??``)?.text??``;try{let{rows:t,ones:a,ends:o}=Sr(await r.invokeAside({request:`layout`,attribute:i,...i.startsWith(`[`)?{}:{shape:e}})),s=o.at(-1)??0,c=a.map(([e,t])=>`M${t+.08} ${e+.08}h.84v.84h-.84z`).join(``),l=o.slice(0,-1).map(e=>`M${e} 0v${t}`).join(``);T(n,w(`svg`,{viewBox:`0 0 ${s} ${t}`},w(`path`,{class:`rules`,d:l}),w(`path`,{d:c})))}catch{}}function Sr({bases:e,shape:t}){let n=t.map((e,n)=>t.slice(n+1).reduce((e,t)=>e+ar(t),0)),r=[],i=[],a=0;for(let t of Object.values(e)){for(let e of t){for(let[t,i]of e.entries())for(let e=0;i>>e>0;e++)i>>e&1&&r.push([(n[t]??0)+e,a]);a++}t.length>0&&i.push(a)}return{rows:t.reduce((e,t)=>e+ar(t),0),ones:r,ends:i}}var Cr=`Definition`,wr=class{element;#e;#t;#n;#r=C(`div.named`,{role:`radiogroup`,"aria-label":`Layouts`});#i;#a=C(`p.note.layout`);#o=C(`div.stack.tight`);#s;#c;#l;#u;#d;#f;#p;#m=``;constructor(e){this.#e=e,this.#t=M(`Shape of the tensor`,$e,t=>e.set({shape:t,at:``}),{hint:`For Triton attributes; other layouts carry their own.`}),this.#n=N(`Element`,[],t=>e.set({element:t})),ut(e.engine,e=>{this.#n.offer(e.map(e=>({value:e,label:e}))),this.#p&&this.#n.set(this.#p.element)});let t=t=>P(t)?{value:ft(t)}:ct(t,this.#p?.shape??[],e.engine);this.#i=M(Cr,t,e=>this.#_(e),{lines:4,hint:`A Triton attribute, bases such as [lane: (0,1) (1,0)] -> [dim0: 2, dim1: 2], CuTe, or an operator: compose(A, B).`,anyway:e=>this.#_(ft(e))});let n=e=>at(e,this.#p?.shown??``,this.#h().map(({name:e})=>e),vt(this.#h()));this.#f=M(`Name`,n,e=>this.#v(e)),this.#s=N(`Operator`,pt,()=>this.#x()),this.#c=N(`A`,[],()=>void 0),this.#l=N(`B`,[],()=>void 0),this.#u=M(`Axes in their new order`,e=>rt(e,this.#p?.shape.length??0),()=>void 0),this.#d=M(`New shape`,e=>it(e,this.#p?.shape??[]),()=>void 0);let r=We(`Copy bases`,()=>this.#m);this.element=C(`section.card`,{"aria-label":`Named layouts`},C(`header`,null,C(`h2`,null,`Named layouts`)),C(`div.stack.tight`,null,this.#t.element,this.#n.element,this.#r,this.#f.element,this.#i.element,this.#a,C(`div.row`,null,r,C(`button.quiet`,{type:`button`,onclick:()=>this.#y()},`Add a layout`),C(`button.quiet`,{type:`button`,onclick:()=>this.#b()},`Remove`)),C(`h3`,null,`Derive a layout`),this.#s.element,this.#o,C(`div`,null,C(`button`,{type:`button`,onclick:()=>this.#S()},`Derive`))))}update(e){this.#p=e;let t=this.#h();this.#t.set(e.shape.join(`x`)),this.#n.set(e.element),T(this.#r,t.map(({name:t,text:n})=>{let r=C(`input`,{type:`radio`,name:`shown`,value:t,onchange:()=>this.#e.set({shown:t,at:``})});return r.checked=t===e.shown,C(`label`,null,r,C(`strong`,null,t),C(`code`,{title:n},n))}));let n=t.find(({name:t})=>t===e.shown);this.#i.set(n?.text??``),this.#f.set(n?.name??``);let r=t.map(({name:e})=>({value:e,label:e}));for(let e of[this.#c,this.#l]){let n=e.select.value;e.offer(r),e.set(t.some(({name:e})=>e===n)?n:r[+(e===this.#l)]?.value??``)}this.#x()}tell(e){this.#m=e?.text??``,this.#n.element.hidden=e===void 0||!yt(e),this.#a.textContent=this.#m}#h(){return(this.#p?.layouts??[]).flatMap(e=>mt(e)??[])}#g(e,t={}){this.#e.set({...t,layouts:e.map(ht)})}#_(e){let t=this.#p?.shown;this.#g(this.#h().map(n=>n.name===t?{...n,text:e}:n),{at:``})}#v(e){let t=this.#p?.shown??``,n=this.#h().map(n=>{let r=P(n.text),i=r?gt({...r,of:r.of.map(n=>n===t?e:n)}):n.text;return{name:n.name===t?e:n.name,text:i}});this.#g(n,{shown:e})}#y(){let e=this.#h(),t=vt(e),n=e.find(e=>e.name===this.#p?.shown)?.text??`[lane: 1] -> [dim0: 2]`;this.#g([...e,{name:t,text:n}],{shown:t,at:``})}#b(){let e=this.#h().filter(({name:e})=>e!==this.#p?.shown);e.length>0&&this.#g(e,{shown:e[0].name,at:``})}#x(){let e=pt.find(({value:e})=>e===this.#s.select.value)?.takes??`nothing`,{shape:t}=this.#p??{shape:[]};this.#u.set(t.map((e,n)=>t.length-1-n).join(` `)),this.#d.set([...t].reverse().join(`x`));let n={other:this.#l,order:this.#u,shape:this.#d,nothing:void 0}[e];T(this.#o,C(`div.columns`,null,this.#c.element,n?.element))}#S(){let e=this.#s.select.value,t=pt.find(({value:t})=>t===e)?.takes,n=[this.#c.select.value];t===`other`&&n.push(this.#l.select.value);let{shape:r}=this.#p??{shape:[]},i=t===`order`?rt(this.#u.input.value,r.length):t===`shape`&&it(this.#d.input.value,r);if(i){if(`wrong`in i)return;n.push(i.value)}let a=P(`${e}(${n.join(`, `)})`);if(!a)return;let o=this.#h(),s=vt(o);this.#g([...o,{name:s,text:gt(a)}],{shown:s,at:``})}};function Tr(e){let t=/^(\w+)\[(\d{1,2})\]$/.exec(e);if(t)return{axis:t[1],bit:Number(t[2])};let n={};for(let t of e.split(`,`)){let e=/^(\w+)=(\d{1,10})$/.exec(t);if(!e)return;n[e[1]]=Number(e[2])}return{at:n}}function Er(e){return e?`axis`in e?`${e.axis}[${e.bit}]`:Object.entries(e.at).map(([e,t])=>`${e}=${t}`).join(`,`):``}function Dr(e){let t=e.split(`, `).map(e=>/^(\w+) (\d+)$/.exec(e));return Object.fromEntries(t.flatMap(e=>e?[[e[1],Number(e[2])]]:[]))}function Or(e,t){let[n=``,r=``]=e.split(`: `),[i,a]=(t?[n,r]:[r,n]).map(Dr);return Object.keys(a).length>0?{element:i,place:a}:{element:i}}function kr(e){let t=/^bit (\d+) of (\w+) (sets|leaves) bit (\d+) of (\w+)$/.exec(e);if(t)return{column:{axis:t[2],bit:Number(t[1])},row:{axis:t[5],bit:Number(t[4])},one:t[3]===`sets`}}function Ar(e,t,n){let r=e?.[t];return r===void 0?void 0:Math.floor(r/2**n)%2==1}function jr(e,{element:t,place:n}){if(`axis`in e){let{axis:r,bit:i}=e;return Ar(n,r,i)??Ar(t,r,i)??!1}return Object.entries(e.at).every(([e,r])=>(n?.[e]??t[e])===r)}function Mr(e,{column:t,row:n,one:r}){if(`axis`in e){let r=({axis:t,bit:n})=>t===e.axis&&n===e.bit;return r(t)||r(n)}let i=({axis:t,bit:n})=>Ar(e.at,t,n);return r&&(i(t)??i(n)??!1)}function Nr({element:e}){return Object.keys(e).sort().map(t=>`${t}=${e[t]}`).join()}function Pr(e,t,n){return n>0?`${e} ${t} = ${t.toString(2).padStart(n,`0`)}`:`${e} ${t}`}function Fr(e,t){let n=Object.entries(e).filter(([e])=>(t[e]??0)>0);return n.length>0?n.map(([e,n])=>Pr(e,n,t[e]??0)).join(`, `):`the only one`}function Ir(e,t,n,r){let i=e[n]?.[r];if(!i)return;let a=i.flatMap((e,n)=>e>0?[`${t[n]} by ${e}`]:[]);return a.length>0?`flips ${a.join(` and `)}`:`makes a copy: it leaves every coordinate`}var Lr=1024;function Rr({bases:e,text:t}){let n=/-> \[([^\]]*)\]/.exec(t)?.[1]??``;return{ins:Object.entries(e).map(([e,t])=>({name:e,bits:t.length})),outs:n.split(`, `).flatMap(e=>{let t=/^(\w+): (\d+)$/.exec(e);return t?[{name:t[1],bits:Math.round(Math.log2(Number(t[2])))}]:[]})}}function zr({at:e},t){let n=Tr(e),{ins:r,outs:i}=Rr(t);return(n?`axis`in n?[n.axis]:Object.keys(n.at):[]).every(e=>[...r,...i].some(({name:t})=>t===e))?n:void 0}var Br=class{element;#e;#t=C(`div.axes`);#n=C(`p.said`,{"aria-live":`polite`,"data-said":``});#r;#i;#a={};#o;constructor(e){this.#e=e,this.#r=C(`button.quiet`,{type:`button`,onclick:()=>e.set({at:``})},`Select nothing`),this.element=C(`section.card.selector`,{"aria-label":`Selection`},C(`header`,null,C(`h2`,null,`Selected`),this.#r),this.#t,this.#n)}show(e,t){this.#i=e,this.#o=zr(t,e);let{ins:n,outs:r}=Rr(e),i=[...n,...r].filter(({bits:e})=>e>0);this.#a=Object.fromEntries(i.map(({name:e,bits:t})=>[e,t])),this.element.hidden=!1,this.#r.disabled=!this.#o,T(this.#t,i.map(e=>this.#c(e))),this.say(void 0)}clear(){this.element.hidden=!0}choose(e){let t=Er(e),n=Er(this.#o);this.#e.set({at:t===n?``:t})}say(e,t){let n=e??this.#o;this.#n.textContent=n?this.#s(n,t):`Nothing. Point at a cell, or choose a coordinate or a bit here.`}#s(e,t){if(`element`in e){let t=Fr(e.element,this.#a);return e.place?`${Fr(e.place,this.#a)} holds ${t}`:`${t}: held by nobody`}let n=t===void 0?``:`: ${L(t,`element`)}`;if(`axis`in e){let{axis:t,bit:r}=e,i=this.#i&&Ir(this.#i.bases,Rr(this.#i).outs.map(({name:e})=>e),t,r);return i?`Bit ${r} of ${t} ${i}${n}`:`Bit ${r} of ${t}${n}`}return Object.entries(e.at).map(([e,t])=>Pr(e,t,this.#a[e]??0)).join(`, `)+n}#c({name:e,bits:t}){let n=E(`axis`),r=this.#o,i=r&&`at`in r?r.at:{},a=t=>{let{[e]:n,...r}=i,a=t===``?r:{...r,[e]:Number(t)};this.#e.set({at:Er({at:a})})},o=2**t,s=o<=Lr?C(`select`,{id:n,onchange:e=>a(e.target.value)},[C(`option`,{value:``},`any`),...Array.from({length:o},(e,n)=>C(`option`,{value:n},`${n} = ${n.toString(2).padStart(t,`0`)}`))]):C(`input`,{id:n,type:`text`,inputmode:`numeric`,onchange:e=>a(e.target.value.replace(/\D/g,``))});s.value=i[e]===void 0?``:String(i[e]);let c=t=>r!==void 0&&`axis`in r&&r.axis===e&&r.bit===t;return C(`div.axis`,{"data-axis":e},C(`div.field`,null,C(`label`,{for:n},e),s),C(`div.row.bits`,{role:`group`,"aria-label":`Bits of ${e}`},Array.from({length:t},(t,n)=>C(`button`,{type:`button`,"aria-pressed":String(c(n)),"aria-label":`Bit ${n} of ${e}`,onclick:()=>this.choose({axis:e,bit:n})},String(n)))))}},Vr=[{kind:`grid`,title:`The tensor`,about:`Each element with who holds it: T5:2 is register 2 of thread 5.`},{kind:`hardware`,title:`The hardware`,about:`Each place with the coordinates of the element that it holds.`},{kind:`matrix`,title:`The matrix`,about:`Columns are bits of places, rows bits of elements.`}],Hr=class{element;#e;#t;#n;#r;#i=C(`div.pictures`);#a;constructor(e,t){this.#e=e.engine,this.#t=t,this.#n=Ke(`Pictures`,[{value:`all`,label:`All`},...Vr.map(({kind:e,title:t})=>({value:e,label:t}))],t=>e.set({see:t})),this.#r=Vr.map(({kind:e,title:t,about:n})=>{let r=C(`p.note`,{hidden:!0}),i=new A({name:`${t} of a layout`,bare:!0,pointed:t=>this.#u(e,t),chosen:t=>this.#p(e,t)});i.element.classList.add(`choosable`,`headed`),i.element.addEventListener(`pointerover`,t=>this.#f(e,t.target,e=>this.#d(e))),i.element.addEventListener(`pointerout`,t=>this.#f(e,t.target,()=>this.#d(void 0))),i.element.addEventListener(`click`,t=>this.#f(e,t.target,e=>this.#t.choose(e)));let a=C(`p`,null,n);return{kind:e,card:C(`section.card`,{"aria-label":t,"data-kind":e},C(`header`,null,C(`h2`,null,t),a),r,i.element),picture:i,note:r,about:a,says:n,pairs:new Map,entries:new Map,isRead:!1}}),this.element=C(`div.stack`,null,C(`div.controls`,null,this.#n.element),this.#i)}async show(e,n,r){this.#n.set(n.see),this.#a=zr(n,e),this.element.hidden=!1;let i=this.#r.filter(({kind:e})=>n.see===`all`||n.see===e),a=i.map(({card:e})=>e);if((a.length!==this.#i.children.length||a.some((e,t)=>this.#i.children[t]!==e))&&T(this.#i,a),await Promise.all(i.map(async i=>{try{let t=i.kind===`grid`&&yt(e);i.about.textContent=t?`Each element with its offset and its bank, as ${n.element}.`:i.says;let{picture:a}=await this.#e.invoke({request:`layout`,attribute:e.text,format:`svg`,...t?{picture:`banks`,element:n.element}:{picture:i.kind}});if(!r())return;i.note.hidden=!0,i.picture.element.hidden=!1,i.picture.show(a??``)}catch(e){if(!r())return;if(!(e instanceof t))throw e;i.picture.clear(),i.picture.element.hidden=!0,i.note.textContent=e.fault.message,i.note.hidden=!1}i.isRead=!1})),!r())return;let o=this.#c(`meant`,this.#a);for(let{picture:e}of this.#r)e.element.classList.toggle(`selecting`,this.#a!==void 0);this.#t.say(void 0,this.#a&&o)}clear(){this.element.hidden=!0;for(let e of this.#r)e.picture.clear(),e.isRead=!1}#o(){for(let e of this.#r)e.isRead||this.#s(e);return this.#r}#s(e){let{kind:t,picture:n,pairs:r,entries:i}=e;r.clear(),i.clear();for(let[e]of n.cells()){let n=k(e);if(t===`matrix`){let t=kr(n);t&&i.set(e,t)}else r.set(e,Or(n,t===`grid`))}e.isRead=!0}#c(e,t){if(!t){for(let{picture:t}of this.#r)for(let n of t.element.querySelectorAll(`.${e}`))n.classList.remove(e);return 0}let n=new Set,r=this.#o();for(let{pairs:e}of r)for(let r of e.values())jr(t,r)&&n.add(Nr(r));for(let{kind:i,pairs:a,entries:o}of r){for(let[r,o]of a)r.classList.toggle(e,i===`grid`?n.has(Nr(o)):jr(t,o));for(let[n,r]of o)n.classList.toggle(e,Mr(t,r))}return n.size}#l(e,t){let n=this.#o().find(t=>t.kind===e),r=n?.picture.cell(t),i=r&&n?.entries.get(r);if(i)return{selection:i.column};let a=r&&n?.pairs.get(r);if(a)return{selection:{at:e===`grid`?a.element:a.place??a.element},pair:a}}#u(e,t){let n=t&&this.#l(e,t);if(!n)return this.#d(void 0);let{selection:r,pair:i}=n,a=this.#c(`linked`,i?{at:i.element}:r);if(i)for(let{entries:e}of this.#o()){let t={at:{...i.element,...i.place}};for(let[n,r]of e)n.classList.toggle(`linked`,Mr(t,r))}this.#t.say(i??r,a)}#d(e){let t=this.#c(`linked`,e);e?this.#t.say(e,t):this.#t.say(void 0,this.#a&&this.#c(`meant`,this.#a))}#f(e,t,n){if(!(t instanceof SVGTextElement)||t.closest(`g[data-row]`))return;let r=this.#o().find(t=>t.kind===e);if(!r)return;let{head:i,row:a,column:o}=t.dataset,s=t.parentElement?.querySelector(`g[data-panel]`)?.dataset.panel;if(i===void 0||s===void 0)return;let c=r.picture.cell({panel:Number(s),row:Number(a??0),column:Number(o??0)}),l=c&&r.entries.get(c);if(l)return n(a===void 0?l.column:l.row);let u=c&&r.pairs.get(c),d=/^\w+/.exec(i)?.[0]??``,f=u?.place?.[d]??u?.element[d];f!==void 0&&d!==`offset`&&n({at:{[d]:f}})}#p(e,t){let n=this.#l(e,t);n&&this.#t.choose(n.selection)}};function Ur(e){return e.layouts.flatMap(e=>mt(e)??[])}async function Wr(e,t,n){let r=Ur(t),i=_t(n,r);if(i)throw Error(i);let a=async n=>{let{text:i}=r.find(e=>e.name===n),o=P(i);if(!o){let n=i.startsWith(`[`);return e.engine.invoke({request:`layout`,attribute:i,...!n&&{shape:t.shape}})}let[s,c]=await Promise.all(o.of.map(a));return e.engine.invoke({request:`operate`,operator:o.operator,layout:s.text,...c&&{other:c.text},to:o.to})};return a(n)}function Gr(e,n){let r=new yr(n),i=new wr(n),a=new Br(n),o=new Hr(n,a),s=new O;T(e,C(`div.intro.wide`,null,C(`h1`,null,`Layout`),C(`p`,null,`Which register of which lane, or which word of memory, holds each element: a matrix of zeros and ones. Point at anything to see it everywhere.`)),r.element,C(`div.workbench.layouts`,null,C(`div.stack`,null,i.element),C(`div.stack.shown`,null,s.element,C(`div.stack.selection`,null,a.element,o.element))));let c=D();return{update(e){r.update(e),i.update(e),c(async c=>{try{let t=await Wr(n,e,e.shown);if(!c())return;i.tell(t),a.show(t,e),await o.show(t,e,c),c()&&s.clear()}catch(n){if(!c())return;let r=Ur(e).find(({name:t})=>t===e.shown)?.text;if(s.show(n,()=>r!==void 0&&!P(r)?r:void 0,()=>Cr),i.tell(void 0),a.clear(),o.clear(),!(n instanceof Error))throw n;if(!(n instanceof t))return}r.draw()})}}}var Kr={id:`layout`,title:`Layout`,fields:bt,mount:Gr},qr=`[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 16, dim1: 32]`,Jr=`[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]`,Yr=`[register: (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16), warp: (1,0)] -> [dim0: 32, dim1: 32]`,Xr=`[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (16,0), warp: (0,1)] -> [dim0: 32, dim1: 32]`,Zr=`#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>`,Qr={shape:[16,32],element:`f32`,store:qr,loads:[Jr]},$r={shape:[32,32],element:`f32`,store:Yr,loads:[Xr]};function ei(e){return`#ttg.padded_shared<[32:+${e}] {order = [1, 0], shape = [16, 32]}>`}var ti=[{id:`transpose`,name:`Transpose 16×32`,about:`f32, one warp. It stores rows and loads pairs of columns.`,...Qr},{id:`rotation`,name:`Rotation: rows of 33`,about:`A word of padding after each row rotates row m by m banks. Like n ⊕ m, it still takes two wavefronts.`,...Qr,memory:ei(1)},{id:`padding-34`,name:`Padding: rows of 34`,about:`Two words of padding after each row keep pairs of columns apart, for two words of memory in every 34.`,...Qr,memory:ei(2)},{id:`square`,name:`Transpose 32×32`,about:`f32, two warps. Rows in, columns out.`,...$r},{id:`phases`,name:`The same on gfx942`,about:`A wave of 64 lanes is served in phases: only lanes of one phase can collide.`,...$r,target:`gfx942`},{id:`vectors`,name:`Vectors of 16 bytes`,about:`f16. Vectors along rows in, vectors along columns out.`,shape:[64,64],element:`f16`,store:Zr,loads:[`#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>`]},{id:`fragment`,name:`Rows to a fragment`,about:`f16. Coalesced rows in, the left operand of a matrix multiplication out.`,shape:[64,64],element:`f16`,store:Zr,loads:[`#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>`]},{id:`masks`,name:`Masks of three bits`,about:`f16 in rows of 128 bytes, eight rows folded into vectors of 16 bytes: the 128-byte swizzle of the tensor memory accelerator.`,shape:[8,64],element:`f16`,store:`#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>`,loads:[`#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [0, 1]}>`],memory:`Swizzle<3,3,3> o 0 o (8,64):(64,1)`},{id:`fp8`,name:`fp8 over eight warps`,about:`Vectors of 16 bytes in, the left operand of a matrix multiplication in fp8 out.`,shape:[128,64],element:`f8E4M3FN`,store:`#ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>`,loads:[`#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>, kWidth = 4}>`]},{id:`mfma`,name:`An mfma fragment`,about:`f16 on gfx942. Vectors of 16 bytes in, the left operand of mfma out: 64 lanes, served in phases.`,shape:[64,64],element:`f16`,store:`#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>`,loads:[`#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>, kWidth = 4}>`],target:`gfx942`},{id:`paper`,name:`The paper's 16×16`,about:`f32, two warps, a block of 2×2 for each thread; loaded as the transposed blocks.`,shape:[16,16],element:`f32`,store:`#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>`,loads:[`#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [0, 1]}>`]},{id:`twice`,name:`One store, two loads`,about:`f32, 32×32. Loaded by rows and by columns, which disagree.`,shape:[32,32],element:`f32`,store:`[register: (1,0) (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 32, dim1: 32]`,loads:[`[register: (0,1) (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (16,0)] -> [dim0: 32, dim1: 32]`,`[register: (0,4) (0,8) (0,16) (8,0) (16,0), lane: (0,1) (0,2) (1,0) (2,0) (4,0)] -> [dim0: 32, dim1: 32]`]}],ni=ti[0],ri={shape:v(...ni.shape),element:m(ni.element),target:m(`sm_90`),against:m(),store:m(ni.store),loads:b(...ni.loads),memory:m(),fold:ee(),access:g(1,0,16),step:g(0),warp:g(0),wave:g(0),top:g(0),left:g(0),zoom:g(0,0,3),close:_(),solve:g(0,0,8)},ii={step:0,warp:0,wave:0,solve:0};function ai({store:e,loads:t}){let n=e=>t.length>1?`load ${e}`:`load`;return[{index:0,name:`store`,kind:`store`,layout:e},...t.map((e,t)=>({index:t+1,name:n(t+1),kind:`load`,layout:e}))]}function oi(e){let t=ai(e);return t[Math.min(e.access,t.length-1)]}function si(e){return fr(e.memory,e.fold,e.shape)}var ci=class{element;#e=C(`div.toggles`,{role:`group`,"aria-label":`Row bits folded into column bits`});#t=C(`div.row`);#n=C(`p.note`);#r;#i=[];#a=``;#o=[];constructor(e,t=[]){this.#r=e,this.element=C(`section.card.folds`,{"aria-label":`Folds`},C(`header`,null,C(`h2`,null,`Fold row bits into column bits`)),C(`div.row`,null,this.#t,t),C(`div.scroll`,null,this.#e),this.#n),this.#e.addEventListener(`keydown`,e=>this.#u(e))}update(e){let t=V(e.shape);this.#o=H(e.fold,t),this.#s(t,e.shape.length);for(let t of this.#e.querySelectorAll(`button`)){let{row:n,column:r}=t.dataset,i=((this.#o[Number(n)]??0)>>Number(r)&1)==1,a=String(i&&e.memory===``);t.getAttribute(`aria-pressed`)!==a&&(t.setAttribute(`aria-pressed`,a),t.textContent=a===`true`?`1`:`·`)}for(let[n,{folds:r}]of pr(t).entries()){let t=e.memory===``&&r.join()===this.#o.join();this.#t.children[n]?.setAttribute(`aria-pressed`,String(t))}let n=t.rows*t.columns,r=e.shape.length,[i,a]=[r===2?U(0,r):`row`,U(r-1,r)];this.#n.textContent=e.memory===``?`offset = ${2**t.columns}·${i} + (${a} ⊕ mask(${i})). ${n} toggles, 2${li(n)} memories.`:`The memory is given as a text. A toggle replaces it.`;for(let[t,n]of this.#i.entries())n.textContent=e.memory===``?this.#c(this.#o[t]??0,r):``}#s(e,t){let n=`${e.rows} ${e.columns} ${t}`;if(n===this.#a)return;this.#a=n;let r=e=>U(e,t),i=r(t-1),a=t===2?e=>r(0)+G(e):e=>`row${G(e)}`,o=[C(`span.corner`)];this.#i=Array.from({length:e.rows},()=>C(`span.mask`));for(let t=0;t<e.columns;t++)o.push(C(`span.head`,{"aria-hidden":`true`},i+G(t)));o.push(C(`span.head.mask`,{"aria-hidden":`true`},`mask`));for(let t=0;t<e.rows;t++){o.push(C(`span.head`,{"aria-hidden":`true`},a(t)));for(let n=0;n<e.columns;n++)o.push(C(`button`,{type:`button`,"data-row":t,"data-column":n,"aria-label":`fold row bit ${t} into column bit ${n}`,onclick:()=>this.#l(t,n)}));o.push(this.#i[t])}this.#e.style.setProperty(`--columns`,String(e.columns)),T(this.#e,o),T(this.#t,pr(e).map(({name:e,folds:t})=>C(`button`,{type:`button`,onclick:()=>this.#r(t)},e)))}#c(e,t){let n=U(t-1,t),r=Array.from({length:31},(e,t)=>t).filter(t=>e>>t&1);return r.length===0?`0`:r.map(e=>n+G(e)).join(`⊕`)}#l(e,t){let n=[...this.#o];n[e]=(n[e]??0)^1<<t,this.#r(n)}#u(e){let t={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]}[e.key];if(!t||!(e.target instanceof HTMLButtonElement))return;let{row:n,column:r}=e.target.dataset;this.#e.querySelector(`button[data-row="${Number(n)+t[0]}"][data-column="${Number(r)+t[1]}"]`)?.focus(),e.preventDefault()}};function li(e){return[...String(e)].map(e=>`⁰¹²³⁴⁵⁶⁷⁸⁹`[Number(e)]??e).join(``)}var ui=class{element;#e=C(`h2`);#t=C(`div.law`);constructor(){this.element=C(`section.card.algebra`,{"aria-label":`Algebra`},C(`header`,null,this.#e),this.#t)}show(e,t,n){let{algebra:r}=e;this.element.hidden=!1;let i=e.phases.reduce((e,{wavefronts:t})=>e+t,0);if(this.#e.textContent=`Why the ${oi(t).name} takes ${i}: a conflict is an intersection`,!r){T(this.#t,C(`p.note`,null,`Padding carries: this memory is not a matrix over F₂, and has no rank.`),mi(`counted`,`by address`,`${i} wavefronts`));return}let{segment:a,phase:o,meet:s,dimension:c}=r,l=`2${li(c)}`,u=r.phases>1?`${r.phases} phases × ${l} = ${r.wavefronts}`:`${l} = ${r.wavefronts}`,d=r.wavefronts===i;T(this.#t,mi(`segment`,`S: same bank, another segment`,q(a)),mi(`phase`,`T: same time, another lane`,q(o)),mi(`meet`,`S ∩ T: both`,s.length===0?`only 0`:q(s)),mi(`rank`,`Its dimension`,`${a.length} + ${o.length} − rank ${a.length+o.length-c} = ${c}`),C(`div.both`,{"data-agree":d},C(`div`,null,C(`p.label`,null,`by algebra`),C(`p.count`,{"data-law":r.wavefronts},u)),C(`div`,null,C(`p.label`,null,`by counting addresses`),C(`p.count`,{"data-counted":i},i)),C(`p.mark`,{role:`img`,"aria-label":d?`equal`:`different`},d?`=`:`≠`)),di(r,t),pi(t,n))}clear(){this.element.hidden=!0}};function di({phase:e,dimension:t},n){let r=t===0,i=fi(e,n.shape),a=n.memory===``&&i!==void 0?`the masks${i.length>0?` and ${i.join(`, `)}`:``}`:`S and T together`;return C(`p.rule`,{"data-free":r},C(`strong`,null,r?`✓ `:`✗ `),`No conflict where ${a} are linearly independent. Here they are${r?``:` not`}.`)}function fi(e,t){let n=e.map(K),{rows:r}=V(t);if(t.length!==2||n.some(e=>e.includes(`⊕`)))return;let i=Array.from({length:r},(e,t)=>`m${G(t)}`);return i.every(e=>n.includes(e))?n.filter(e=>!i.includes(e)):void 0}function pi({shape:e},t){let n=t?.trace;if(!n)return!1;let{rows:r,columns:i}=V(e),[a,o]=[n.store_phase.length,n.load_phase.length];return C(`p.note`,{"data-line":`room`},`Room for segments: ${r+i} − max(${a}, ${o}) = ${n.most_segment_bits}; needed: ${n.segment_bits}.`)}function mi(e,t,n){return C(`div.fact`,{"data-line":e},C(`span.label`,null,t),C(`code`,null,n))}var hi={"Step {} of {}":`第 {} 步，共 {} 步`,"Steps of the tour":`导览的各步`,Back:`上一步`,Next:`下一步`,Workbench:`去工作台`,Play:`播放`,Stop:`停止`,"{} wavefront":`{} 个 wavefront`,"{} wavefronts":`{} 个 wavefront`," hue = bank ÷ 2, darker = odd bank":` 色相 = bank ÷ 2，奇数 bank 更深`," T5: lane 5 moves it; another number is the bank":` T5：由 lane 5 搬运；别的数字是 bank`," lanes {}–{}":` lane {}–{}`,"beneath a tile: a column is a bank, a row a wavefront":`数据块下方：一列是一个 bank，一行是一个 wavefront`,"{} of {} banks does all the work, up to {} words deep":`{1} 个 bank 里只有 {0} 个在干活，最深 {2} 个字`,"{} of {} banks do all the work, up to {} words deep":`{1} 个 bank 里只有 {0} 个在干活，最深 {2} 个字`,"{} of {} banks works, and nobody waits":`{1} 个 bank 里 {0} 个在干活，谁也不用等`,"{} of {} banks work, and nobody waits":`{1} 个 bank 里 {0} 个在干活，谁也不用等`,"The store: lanes run along the rows.":`store：lane 沿着行走。`,"The load: lanes run down the columns, two at a time.":`load：lane 沿着列往下走，一次两列。`,"One load instruction, row-major: 16 wavefronts.":`按行摆放时的一条 load 指令：16 个 wavefront。`,"The store under n ⊕ m: a permuted row, one wavefront.":`n ⊕ m 下的 store：一行换了次序，仍是 1 个 wavefront。`,"The load under n ⊕ m: 16 banks, twice.":`n ⊕ m 下的 load：16 个 bank，每个两次。`,"The load under n ⊕ 2m: 32 banks, one word each.":`n ⊕ 2m 下的 load：32 个 bank，每个一个字。`,"The store: a register is a row, a lane a column.":`store：寄存器选行，lane 选列。`,"The load: lanes take m and n₀, registers n₁ to n₄.":`load：lane 管 m 和 n₀，寄存器管 n₁ 到 n₄。`,"The memory n ⊕ 2m: segment bit j flips mⱼ and nⱼ₊₁.":`内存 n ⊕ 2m：段位 j 翻转 mⱼ 和 nⱼ₊₁。`,"Three memories, one law":`三种内存，一条规律`,memory:`内存`,"segment directions":`段的方向`,"shared with the load's lanes":`与 load 的 lane 共有`,"by algebra":`代数算出`,counted:`数出`,"row-major":`按行`,"only 0":`只有 0`,"Sums of one and one":`一对一的和`,"both, untouchable":`两边都有，不能碰`,"only the store":`只属于 store`,"only the load":`只属于 load`,"the sums: segments":`两者之和：段`,"offset = {}. Store and load together take {} wavefronts, and no memory takes fewer than {}.":`offset = {}。store 和 load 一共要 {} 个 wavefront，没有哪种内存能少于 {} 个。`,"The load in the memory that comes out: 32 banks, one word each.":`在求得的内存里 load：32 个 bank，每个一个字。`,"One load instruction of your memory.":`你的内存里的一条 load 指令。`,"Solved. ":`解出来了。`,"One wavefront for every store and every load, and the algebra proves it for all of them.":`每次 store 和每次 load 都只要 1 个 wavefront，代数证明对所有指令都如此。`,"{} wavefronts an instruction. ":`每条指令 {} 个 wavefront。`,"The load's lanes and the segments share {}: this is the direction to get rid of.":`load 的 lane 与段共有 {}：要去掉的就是这个方向。`},gi=(e,...t)=>vi(e,t),_i=(e,...t)=>vi(hi[e],t);function vi(e,t){let n=0;return e.replace(/\{(\d?)\}/g,(e,r)=>String(t[r===``?n++:Number(r)]))}var yi=[[.82,.115],[.64,.125]];function J(e,t){let[n,r]=yi[e%2==0?0:1];return`oklch(${n} ${r} ${(360*Math.floor(e/2)/(t/2)).toFixed(1)})`}function bi(e,t,n){if(e===``)return e;let r=new DOMParser().parseFromString(e,`image/svg+xml`);for(let e of r.querySelectorAll(`g[data-row]`)){let r=e.querySelector(`:scope > path[class^="h"]`),i=RegExp(`\\b${t} (\\d+)`).exec(e.querySelector(`title`)?.textContent??``);if(r&&i){r.style.fill=J(Number(i[1]),n);for(let t of e.querySelectorAll(`:scope > path:is(.black, .white)`))t.remove();e.querySelector(`:scope > g.white`)?.setAttribute(`class`,`black`)}}let i=r.querySelector(`svg > g[transform]:last-child:has(> path[class^="h"])`),a=Number(/translate\(\S+ (\d+)\)/.exec(i?.getAttribute(`transform`)??``)?.[1]);return i&&a>0&&(i.remove(),r.documentElement.setAttribute(`height`,String(a)),r.documentElement.setAttribute(`viewBox`,`0 0 ${r.documentElement.getAttribute(`width`)} ${a}`)),new XMLSerializer().serializeToString(r)}function xi({phases:e},t,n,r=gi){let i=e.reduce((e,{lanes:t})=>e+t.length,0),a=e=>C(`span.swatch`,{style:`background: ${J(e,t)}`});return[C(`span.legend`,null,a(0),a(1),a(2),a(3),r(` hue = bank ÷ 2, darker = odd bank`)),n?C(`span.legend`,null,C(`span.key.ring`),r(` T5: lane 5 moves it; another number is the bank`)):C(`span.legend`,null,C(`span.key.ring`),r(` lanes {}–{}`,0,i/2-1),C(`span.key.dot`),r(` lanes {}–{}`,i/2,i-1)),C(`span.legend`,null,r(`beneath a tile: a column is a bank, a row a wavefront`))]}var Si=typeof matchMedia==`function`?matchMedia(`(prefers-reduced-motion: reduce)`):void 0;function Ci(){return Si?.matches!==!0}function wi(e,[t,n],{delay:r=0,time:i=420}={}){!Ci()||t===0&&n===0||e.animate([{transform:`translate(${t}px, ${n}px)`},{transform:`none`}],{delay:r,duration:i,easing:`cubic-bezier(0.3, 0.7, 0.2, 1)`,fill:`backwards`})}var Y=24,Ti=188,[Ei,Di]=[.45,1.6],[Oi,ki]=[56,48],Ai=380,ji=18,Mi=12,[Ni,Pi]=[8,64],Fi=6,Ii=[24,18],Li=class{element;head=C(`header.tile-head`);#e=C(`p.tale`);#t;#n=C(`p.says`);#r;#i;#a;#o={top:0,left:0,zoom:0};#s=0;#c=0;#l=null;#u=new Map;#d=[];#f=!1;#p=new Map;#m=``;#h=[];constructor(e,t,n,r=Ti){this.#r=t,this.#i=r;let i=E(`says`);this.#n.id=i,this.#t=C(`div.frame`,{tabindex:0,role:`group`,"aria-label":e,"aria-describedby":i}),this.element=C(`figure.tile`,null,this.head,this.#t,this.#n,this.#e),this.#t.addEventListener(`pointerover`,e=>this.#r(Ki(e.target))),this.#t.addEventListener(`pointerleave`,()=>this.#r(null)),this.#t.addEventListener(`blur`,()=>(this.#n.removeAttribute(`aria-live`),this.#r(null))),this.#t.addEventListener(`keydown`,e=>this.#k(e,n)),this.#A(n),new ResizeObserver(()=>{let e=this.#t.clientWidth;e!==0&&e!==this.#s&&(this.#s=e,this.#a&&this.#y())}).observe(this.#t)}get isLabelled(){return this.#f}get#g(){let e=this.#a?.shape??[];return[e.at(-2)??1,e.at(-1)??1]}get#_(){return Ri(this.#g,this.#o.zoom)}show(e){let{answer:t,most:n}=this.#a??{},r=X(e.answer),i=`${e.name}: a tile of ${e.shape.join(`×`)} coloured by bank; the ${e.answer.kind} takes ${r} wavefront${r===1?``:`s`}`;if(this.#t.setAttribute(`aria-label`,i),t===e.answer&&n===e.most)return;let a=t?.places,o=this.#a?.shape.join()===e.shape.join();this.#a=e,[this.#u,this.#d]=Ui(e),this.#e.textContent=Hi(this.#d,e),this.#y(),o&&a&&a!==e.answer.places&&this.#D(a,10)}clear(){this.#a=void 0,this.#m=``,this.#p.clear(),T(this.#t),T(this.head),T(this.#e),this.#n.textContent=``}look(e){let{top:t,left:n,zoom:r}=this.#o;(t!==e.top||n!==e.left||r!==e.zoom)&&(this.#o=e,this.#a&&this.#y())}build(e){this.#D(e,90)}wave(e){let t=e===this.#c+1;if(this.#c=e,this.#E(),t&&Ci())for(let[t,n]of this.#h)n.wave+1===e&&this.#O(t,n)}point(e){this.#l!==null&&this.#p.get(this.#l)?.classList.remove(`pointed`),this.#l=e,e!==null&&this.#p.get(e)?.classList.add(`pointed`);for(let[t,n]of this.#h)t.classList.toggle(`pointed`,e!==null&&n.element===e);this.#n.textContent=e===null?``:this.#v(e)}#v(e){let[,t]=this.#g,[n,r]=[Math.floor(e/t),e%t],i=Math.max(2,this.#a?.shape.length??2),a=`${U(i-2,i)} ${n}, ${U(i-1,i)} ${r}`,o=this.#a?.answer.places?.[e];if(!o)return`${a}: held by nobody`;let s=this.#u.get(e),c=s?`, lane ${s.lane}, register ${s.register}, wavefront ${s.wave}`:``;return`${a}: offset ${o.offset}, bank ${o.bank}${c}`}#y(){let{answer:e,banks:t,most:n}=this.#a,r=Math.max(200,this.#s||=this.#t.clientWidth),[i,a]=this.#_,[o,s]=[(r-Y)/a,zi(Math.min((r-Y)/a,this.#b(r)/i))],c=Math.round(s*i),l=r<Ai?ki:Oi,u=c+ji+Mi+l,{top:d,left:f}=this.#o,p=[r,i,a,d,f,this.#g,t].join(),m=p!==this.#m;this.#m=p,m&&this.#p.clear();for(let n of this.#x()){let r=e.places?.[n.index]??null,i=this.#p.get(n.index);if(i&&Wi(i,r,this.#u.get(n.index),t))continue;let a=this.#S(n,r,[o,s],t);i?.replaceWith(a),this.#p.set(n.index,a)}let h=this.#T([u,l],(r-Y)/t,t,n);if(m){let e=w(`g`,{class:`cells`,transform:`translate(${Y} 0)`}),t=`--ring: ${Math.min(1.7,Math.min(o,s)*.16).toFixed(2)}px`,n=w(`svg`,{class:s<Fi?`board low`:`board`,width:r,height:u+ji,style:t,"aria-hidden":`true`});e.append(...this.#p.values()),n.append(e,...this.#w([i,a],[o,s],c),h),T(this.#t,n)}else this.#t.querySelector(`.queues`)?.replaceWith(h);this.#f=Bi([o,s]),this.#t.classList.toggle(`zoomed`,this.#o.zoom>0),this.#E(),this.point(this.#l)}#b(e){return Math.min(Di*this.#i,Math.max(this.#i,Ei*(e-Y)))}*#x(){let[,e]=this.#g,[t,n]=this.#_,{top:r,left:i}=this.#o;for(let a=0;a<t;a++)for(let t=0;t<n;t++)yield{index:(r+a)*e+i+t,row:a,column:t}}#S({index:e,row:t,column:n},r,[i,a],o){let s=i>5&&a>5?.7:0,[c,l]=[n*i,t*a],u=this.#u.get(e),d=w(`g`,{"data-element":e,"data-bank":r?.bank,"data-wave":u?.wave,"data-lane":u?.lane});d.append(w(`rect`,{x:c,y:l,width:i-s,height:a-s,fill:r?J(r.bank,o):`none`}));let f=Bi([i,a]);if(u&&f?d.append(w(`rect`,{class:`ring frame`,x:c+1.5,y:l+1.5,width:i-3-s,height:a-3-s})):u&&d.append(Gi(this.#C(u.lane),[c,l],[i-s,a-s])),f&&r){let e=u?`T${u.lane}`:String(r.bank);d.append(w(`text`,{x:c+i/2,y:l+a/2,class:u?`moved`:void 0},e))}return d}#C(e){return e<(this.#a?.answer.phases.reduce((e,{lanes:t})=>e+t.length,0)??0)/2?0:1}#w([e,t],[n,r],i){let{top:a,left:o}=this.#o,s=(e,t,n,r)=>w(`text`,{class:r?`axis end`:`axis`,x:e,y:t},String(n)),c=(e,t,n)=>{let r=1;for(;r*t<n&&r<e;)r*=2;return Array.from({length:Math.ceil(e/r)},(e,t)=>t*r)};return[...c(e,r,24).map(e=>s(18,Math.max(6,(e+.5)*r),a+e,!0)),...c(t,n,30).map(e=>s(Y+(e+.5)*n,i+ji/2+1,o+e,!1))]}#T([e,t],n,r,i){let a=Math.min(this.#i/16,t/Math.max(1,i)),o=a>3?.8:0,s=w(`g`,{class:`queues`,transform:`translate(${Y} ${e})`});this.#h=this.#d.map(e=>[w(`rect`,{x:e.bank*n,y:-(e.wave+1)*a,width:n-.7,height:a-o,fill:J(e.bank,r),"data-hit":e.bank,"data-wave":e.wave}),e]);let c=Array.from({length:Math.ceil(r/4)},(e,t)=>t*4);return s.append(...this.#h.map(([e])=>e),w(`line`,{class:`ground`,x1:0,x2:n*r,y1:.5,y2:.5}),...c.map(e=>w(`text`,{class:`axis`,x:(e+.5)*n,y:10},String(e)))),s}#E(){let e=this.#c===0||this.#c>X(this.#a?.answer);this.element.classList.toggle(`selecting`,!e);for(let t of this.#p.values())t.classList.toggle(`meant`,!e&&t.dataset.wave===String(this.#c-1));for(let[t,n]of this.#h)t.classList.toggle(`waiting`,!e&&n.wave>=this.#c),t.classList.toggle(`meant`,!e&&n.wave===this.#c-1)}#D(e,t){if(!Ci())return;let[,n]=this.#g,{top:r,left:i}=this.#o,[a,o]=this.#_,s=(this.#s-Y)/o,c=new Map(e.map((e,t)=>[e?.offset,t]));for(let[e,l]of this.#p){let u=c.get(this.#a?.answer.places?.[e]?.offset);if(u===void 0)continue;let d=Math.floor(e/n),f=Math.floor(u/n)===d&&u%n>=i&&u%n<i+o,p=l.firstElementChild;f&&d-r<a&&p instanceof SVGElement&&wi(p,[(u%n-e%n)*s,0],{delay:(d-r)*t})}}#O(e,{element:t}){let[n,r]=[t===void 0?void 0:this.#p.get(t),e].map(e=>e?.getBoundingClientRect());n&&r&&wi(e,[n.left-r.left,n.top-r.top],{time:380})}#k(e,t){let n={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]}[e.key];if(e.key===`Escape`&&this.#r(null),!n||!this.#a)return;e.preventDefault(),this.#n.setAttribute(`aria-live`,`polite`);let[r,i]=this.#g,{top:a,left:o}=this.#o,s=this.#l??a*i+o,[c,l]=this.#l===null?[a,o]:[Math.floor(s/i)+n[0],s%i+n[1]];if(c<0||l<0||c>=r||l>=i)return;let[u,d]=this.#_,f=(e,t,n)=>e<t?e-t:Math.max(0,e-t-n+1),[p,m]=[f(c,a,u),f(l,o,d)];(p!==0||m!==0)&&t(p,m),this.#r(c*i+l)}#A(e){let t;this.#t.addEventListener(`pointerdown`,({clientX:e,clientY:n})=>t=this.#o.zoom>0?{x:e,y:n}:void 0),addEventListener(`pointerup`,()=>t=void 0),this.#t.addEventListener(`pointermove`,({clientX:n,clientY:r})=>{let i=this.#p.values().next().value?.firstElementChild?.getBoundingClientRect();if(!t||!i)return;let[a,o]=[Math.trunc((t.y-r)/i.height),Math.trunc((t.x-n)/i.width)];(a!==0||o!==0)&&(t={x:n,y:r},e(a,o))})}};function Ri([e,t],n){let r=Math.min(t,Math.max(Ni,Math.min(t,Pi)/2**n));return[Math.min(e,n===0?Pi:Math.max(1,r/2)),r]}function zi(e){return e<Fi?Math.max(1,Math.round(e)):e}function Bi([e,t]){return e>=Ii[0]&&t>=Ii[1]}function Vi(e){return Math.max(0,Math.log2(Math.min(e,Pi)/Ni))}function X(e){return e?.phases.reduce((e,{wavefronts:t})=>e+t,0)??0}function Hi(e,{answer:t,banks:n,say:r=gi}){let i=new Map;for(let{bank:t}of e)i.set(t,(i.get(t)??0)+1);let a=i.size===1;return X(t)===t.phases.length?r(a?`{} of {} banks works, and nobody waits`:`{} of {} banks work, and nobody waits`,i.size,n):r(a?`{} of {} banks does all the work, up to {} words deep`:`{} of {} banks do all the work, up to {} words deep`,i.size,n,Math.max(0,...i.values()))}function Ui({answer:e,shape:t}){let[n,r]=[new Map,[]],i=t.at(-1)??1,a=e=>e.slice(0,-2).some(e=>e!==0)?void 0:(e.at(-2)??0)*i+(e.at(-1)??0),o=0;for(let t of e.phases){for(let e of t.words){let t=o+e.wavefront,i=e.moved.map(({element:e,lane:t,register:n})=>({at:a(e),lane:t,register:n}));for(let{at:e,lane:r,register:a}of i)e!==void 0&&n.set(e,{lane:r,register:a,wave:t});r.push({bank:e.bank,wave:t,lanes:[...new Set(i.map(({lane:e})=>e))],element:i[0]?.at})}o+=t.wavefronts}return[n,r]}function Wi(e,t,n,r){let{bank:i,wave:a,lane:o}=e.dataset,s=e=>e===void 0?void 0:String(e);return i===void 0||!t||o!==s(n?.lane)||e.lastElementChild?.tagName===`text`?!1:(i!==String(t.bank)&&(e.dataset.bank=String(t.bank),e.firstElementChild?.setAttribute(`fill`,J(t.bank,r))),n&&a!==s(n.wave)&&(e.dataset.wave=String(n.wave)),!0)}function Gi(e,[t,n],[r,i]){let a=Math.min(r,i);if(e===1)return w(`circle`,{class:`dot`,cx:t+r/2,cy:n+i/2,r:a*.24});let o=a*.17;return w(`rect`,{class:`ring`,x:t+o,y:n+o,width:r-2*o,height:i-2*o})}function Ki(e){let t=e instanceof Element?e.closest(`[data-element]`):null;return t?Number(t.dataset.element):null}function qi(e,t){return C(`div.verdicts`,null,t.map(({target:t,beside:n,accesses:r})=>C(`div.verdict`,{"data-target":t},n&&C(`h3`,null,t),C(`div.badges`,null,r.map(({index:t,name:n,answer:r})=>Ji(e,n,t,r))))))}function Ji(e,n,r,i){if(!Yi(i))return C(`span.badge.bad`,{"data-access":n,title:i instanceof t?i.fault.message:String(i)},n,C(`strong`,null,`refused`));let{wavefronts:a,ideal:o,instructions:s}=i,c=a/s,l=a===o,u=(e,t)=>`${e} ${t}${e===1?``:`s`}`,d=l?`no conflicts`:`${a/o} times as many as without conflicts`;return C(`a.badge`,{class:`badge ${l?`good`:`bad`}`,href:e.link({access:r,step:0,wave:0}),"data-access":n,"data-wavefronts":a,"data-each":c,"data-ideal":o,title:`${u(s,`instruction`)} of ${u(c,`wavefront`)}: ${a} of at least ${o}, ${d}`},C(`span`,null,l?`✓`:`✗`,` `,n),C(`strong`,null,c),C(`span.spoken`,null,`${c===1?`wavefront`:`wavefronts`} an instruction, ${d}`))}function Yi(e){return typeof e==`object`&&!!e&&`wavefronts`in e}var Xi=420,Zi=[`left`,`middle`,`right`],Qi=class{element;#e;#t=C(`div`);#n;#r;#i;#a;#o;#s=C(`p.legends`);#c;#l;#u=``;#d;#f=1;#p=[];#m=!1;#h=()=>void 0;#g;constructor(e){this.#e=e,this.#n=qe(`Instruction`,t=>e.set({step:t,wave:0},`drag`)),this.#r=qe(`Warp`,t=>e.set({warp:t,wave:0},`drag`)),this.#i=qe(`Wavefront`,t=>(this.stop(),e.set({wave:t},`drag`))),this.#a=C(`button.primary`,{type:`button`,onclick:()=>this.#w()},`Play`);let t=C(`button`,{type:`button`,onclick:()=>this.#C()},`Build up`),n=(e,t)=>this.#S(e,t);this.#o=Zi.map(e=>new Li(`The tile on the ${e}`,e=>this.#o.forEach(t=>t.point(e)),n));let r=(e,t,n)=>C(`button`,{type:`button`,"aria-label":t,title:t,onclick:n},e),i=r(`+`,`Zoom in`,()=>this.#x(1)),a=r(`−`,`Zoom out`,()=>this.#x(-1)),o=C(`span.row`,null,r(`←`,`Move left`,()=>n(0,-4)),r(`→`,`Move right`,()=>n(0,4)),r(`↑`,`Move up`,()=>n(-2,0)),r(`↓`,`Move down`,()=>n(2,0)));this.#c={closer:i,wider:a,pans:o},this.element=C(`section.card.watch`,{"aria-label":`One instruction`},C(`div.controls`,null,this.#t,this.#n.element,this.#r.element,this.#i.element,C(`div.row`,null,this.#a,t,C(`div.row.zoom`,null,a,i,o))),C(`div.tiles`,null,this.#o.map(({element:e})=>e)),this.#s)}update(e){this.#g=e;let t=ai(e),n=t.map(({name:e})=>e).join();n!==this.#u&&(this.#u=n,this.#l=Ke(`Access`,t.map(({index:e,name:t})=>({value:String(e),label:t})),e=>this.#e.set({access:Number(e),step:0,wave:0})),T(this.#t,this.#l.element)),this.#l?.set(String(oi(e).index)),this.#n.set(e.step),this.#r.set(e.warp),this.#i.set(e.wave),this.#_()}show(e,t,n){this.#p=e,this.#f=Math.max(...e.map(({answer:e})=>X(e)));let r=e.find(({current:e})=>e)?.answer??e[0].answer,{instructions:i,warps:a}=r;this.#n.reach(i-1),this.#n.set(t.step),this.#n.say(`${r.instruction} of 0–${i-1}`),this.#r.reach(a-1),this.#r.set(t.warp),this.#r.say(`${r.warp} of 0–${a-1}`),this.#r.element.hidden=a===1,this.#i.reach(this.#f),this.#i.set(t.wave);let o=t.shape;for(let[t,{name:r,current:i,verdicts:a,answer:s}]of e.entries()){let e=this.#o[t];e.element.dataset.current=String(i);let c=X(s);T(e.head,C(`h2`,null,r,i&&!r.startsWith(`Yours`)&&C(`span.now`,{title:`The toggles, the algebra and the matrix are about this one`},`selected`)),qi(this.#e,a),C(`p.waves.${c===s.phases.length?`good`:`bad`}`,{title:`wavefronts of this ${s.kind}`},c)),e.show({name:r,answer:s,shape:o,banks:n,most:this.#f})}this.#h=()=>T(this.#s,xi(r,n,this.#o[0].isLabelled)),this.#_(),this.#m||this.#C(),this.#m=!0}clear(){this.stop(),this.#p=[];for(let e of this.#o)e.clear();this.#h=()=>T(this.#s),this.#h()}stop(){clearInterval(this.#d),this.#d=void 0,this.#a.textContent=`Play`}#_(){let{wave:e=0,top:t=0,left:n=0,zoom:r=0,shape:i=[]}=this.#g??{},a=Vi(i.at(-1)??1),o=Math.min(r,a);for(let r of this.#o)r.look({...this.#b(t,n,o),zoom:o}),r.wave(e);this.#h(),this.#c.closer.disabled=o>=a,this.#c.wider.disabled=o===0,this.#c.pans.hidden=!this.#y(o),this.#i.say(e>0&&e<=this.#f?`${e-1} of 0–${this.#f-1}`:`all, 0–${this.#f-1}`)}get#v(){let{shape:e=[]}=this.#g??{};return[e.at(-2)??1,e.at(-1)??1]}#y(e){let[t,n]=[this.#v,Ri(this.#v,e)];return n[0]<t[0]||n[1]<t[1]}#b(e,t,n){let[r,i]=this.#v,[a,o]=Ri([r,i],n),s=(e,t)=>Math.max(0,Math.min(e,t));return{top:s(e,r-a),left:s(t,i-o)}}#x(e){let{zoom:t=0,top:n=0,left:r=0}=this.#g??{},i=Math.max(0,t+e);this.#e.set({zoom:i,...this.#b(n,r,i)},`drag`)}#S(e,t){let{zoom:n=0,top:r=0,left:i=0}=this.#g??{};this.#e.set(this.#b(r+e,i+t,n),`drag`)}#C(){let e=this.#p[0]?.answer.places;if(e)for(let t of this.#o.slice(1))t.build(e)}#w(){if(this.#d!==void 0)return this.stop();this.#a.textContent=`Stop`;let e=()=>{let e=this.#g?.wave??0,t=e>=this.#f?0:e+1;this.#e.set({wave:t},`drag`),t===0&&this.stop()};this.#e.set({wave:0},`drag`),e(),this.#d=setInterval(e,Xi)}},$i=class{element;#e;#t;#n=[];constructor(e){this.#e=new A({name:`What one instruction moves`,pointed:e=>this.#i(e,this.#e,this.#t)}),this.#t=new A({name:`How the banks serve it`,pointed:e=>this.#i(e,this.#t,this.#e)}),this.#e.element.classList.add(`moving`),this.element=C(`details.card.closeup`,null,C(`summary`,null,`Close-up: every element with its bank and lane, to save as a file`),this.#e.element,this.#t.element),this.element.addEventListener(`toggle`,()=>e.set({close:this.element.open},`drag`))}update(e){this.element.open=e.close,this.#r(e.wave)}show({phases:e,tile:t,banks:n},{wave:r,shape:i},a){this.#n=e.flatMap(({wavefronts:e},t)=>Array.from({length:e},(e,n)=>({phase:t,wavefront:n})));let o=(e=``)=>bi(W(e,i.length),`bank`,a);this.#e.show(o(t)),this.#t.show(o(n)),this.#r(r)}clear(){this.#e.clear(),this.#t.clear(),this.#n=[]}#r(e){let t=this.#n[e-1];for(let e of[this.#e,this.#t]){e.element.classList.toggle(`selecting`,t!==void 0);for(let[n]of e.cells()){let{phase:e,wavefront:r}=n.dataset,i=t&&e===String(t.phase)&&r===String(t.wavefront);n.classList.toggle(`meant`,i===!0)}}}#i(e,t,n){let r=e?ea(t.cell(e)):new Set;for(let[e]of n.cells()){let t=r.size>0?ea(e):new Set;e.classList.toggle(`linked`,[...t].some(e=>r.has(e)))}}};function ea(e){if(!e?.dataset.wavefront)return new Set;let t=k(e);return new Set([...t.matchAll(/lane ((?:\d+ ?)+)/g)].flatMap(([,e])=>(e??``).trim().split(` `)))}var ta=8,na=.42,ra=class{element;#e;#t=new Map;#n;#r=!1;#i=C(`p.about`,{"aria-live":`polite`});constructor(e){this.#n=e,this.#e=ti.map(t=>{let n=C(`canvas.thumbnail`,{"aria-hidden":`true`,width:t.shape.at(-1),height:ta});return this.#t.set(t,n),C(`button.example`,{type:`button`,title:t.about,"data-example":t.id,onclick:()=>e.set(ia(t))},n,C(`span`,null,t.name))}),this.element=C(`section.examples`,{"aria-label":`Examples`},C(`div.strip`,{role:`group`,"aria-label":`Examples`},this.#e),this.#i)}async draw(){if(!this.#r){this.#r=!0;for(let[e,t]of this.#t)await oa(e,t,this.#n)}}update(e){let t=aa(e);for(let e of this.#e)e.setAttribute(`aria-pressed`,String(e.dataset.example===t?.id));this.#i.textContent=t?.about??`Your own accesses.`}};function ia({shape:e,element:t,store:n,loads:r,memory:i=``,target:a=`sm_90`}){return{...ii,shape:e,element:t,store:n,loads:r,memory:i,target:a,fold:[],access:1,top:0,left:0,zoom:0}}function aa(e){let t=ti.filter(({shape:t,element:n,store:r,loads:i})=>r===e.store&&n===e.element&&t.join()===e.shape.join()&&i.join(`\0`)===e.loads.join(`\0`));return t.find(({memory:t=``,target:n=`sm_90`})=>t===e.memory&&n===e.target)??t.find(({memory:e,target:t})=>e===void 0&&t===void 0)??t[0]}async function oa({shape:e,element:t,loads:n,memory:r,target:i=`sm_90`},a,{engine:o}){let s=a.getContext(`2d`),c=a.width;try{let[{phases:l,places:u=[]},{machines:d}]=await Promise.all([o.invokeAside({request:`wavefronts`,registers:n[0],memory:r??sa(e),shape:e,element:t,target:i,kind:`load`,places:!0}),o.invoke({request:`machines`})]),f=d.find(({name:e})=>e===i)?.banks??32,p=l.flatMap(({words:e})=>e.flatMap(({moved:e})=>e)),m=new Set(p.map(({element:[e=0,t=0]})=>e*c+t));for(let e=0;e<ta*c;e++){let t=u[e];t&&(s.fillStyle=J(t.bank,f),s.globalAlpha=m.has(e)?1:na,s.fillRect(e%c,Math.floor(e/c),1,1))}a.dataset.drawn=`true`}catch{}}function sa([e=1,t=1]){return`(${e},${t}):(${t},1)`}var ca=class{element;#e;#t=new A({name:`Matrix of the memory`,bare:!0});#n=C(`p.note.layout`);#r=C(`span.axes`);#i=C(`p.note.parts`,{hidden:!0},C(`span`,null,C(`span.swatch.bank`),` bank bits`),C(`span`,null,C(`span.swatch.segment`),` segment bits`),this.#r);#a=D();#o;constructor(e){this.#e=e,this.element=C(`section.card`,{"aria-label":`Matrix`},C(`header`,null,C(`h2`,null,`The memory as a matrix`)),this.#t.element,this.#i,C(`details`,null,C(`summary`,null,`As a text`),this.#n))}update(e){let t=e.shape.length;T(this.#r,e.shape.map((e,n)=>C(`span`,null,`${U(n,t)} is dim${n}`))),this.#a(async n=>{try{let{picture:r,text:i}=await this.#e.engine.invoke({request:`layout`,attribute:si(e),shape:e.shape,format:`svg`,picture:`matrix`});if(!n())return;this.#t.show(ur(r??``,t));let{columns:a}=V(e.shape);this.#t.mark(`folded`,({row:e,column:t})=>e<a&&t>=a),this.#s(),this.#n.textContent=i}catch{n()&&this.#t.clear()}})}segments(e){this.#o=e,this.#s()}#s(){let e=[...this.#t.cells()].map(([,{column:e}])=>e),t=this.#o===void 0?1/0:Math.max(-1,...e)+1-this.#o;this.#i.hidden=this.#o===void 0,this.#t.mark(`segment`,({column:e})=>e>=t),this.#t.mark(`bank`,({column:e})=>this.#o!==void 0&&e<t)}},[la,ua]=[`Store from`,`Memory`];function da(e,t){return t.length>1?`Load ${e} into`:`Load into`}var fa=class{element;#e;#t;#n;#r;#i;#a;#o=C(`div.stack.tight`);#s;#c;#l=[];constructor(e){this.#e=e;let t=t=>e.set({...ii,...t}),{engine:n}=e;this.#t=M(`Shape`,$e,e=>t({shape:e})),this.#n=M(`Element`,e=>st(e,n),e=>t({element:e}),{list:e=>ut(n,e)}),this.#r=dt(`Machine`,e.engine,e=>t({target:e})),this.#i=dt(`Compare with`,e.engine,t=>e.set({against:t}),`none`),this.#a=this.#u(la,e=>t({store:e})),this.#c=this.#u(ua,e=>t({memory:e}),{lines:2,hint:`Empty: the folds above. Or a Triton attribute, bases, or CuTe: Swizzle<4,1,4> o 0 o (16,32):(32,1)`,empty:!0}),this.#s=C(`details`,null,C(`summary`,null,`Store, loads and memory as texts`),C(`div.stack.tight`,null,this.#a.element,this.#o,this.#c.element)),this.element=C(`section.card.problem`,{"aria-label":`The problem`},C(`header`,null,C(`h2`,null,`The problem`)),C(`div.stack.tight`,null,C(`div.columns`,null,this.#t.element,this.#n.element,this.#r.element,this.#i.element),this.#s))}#u(e,t,{empty:n=!1,...r}={}){return M(e,e=>n&&e.trim()===``?{value:``}:ct(e,this.#l,this.#e.engine),t,{lines:3,...r,anyway:e=>t(ft(e))})}update(e){this.#l=e.shape,this.#t.set(e.shape.join(`x`)),this.#n.set(e.element),this.#r.set(e.target),this.#i.set(e.against),this.#a.set(e.store),this.#c.set(e.memory),this.#d(e)}source(e,t,n){let r=this.label(e,t,n);if(r!==void 0)return this.#s.open=!0,r===ua?e.memory:t===0?e.store:e.loads[t-1]}label({loads:e},t,n){let r=ue(n);if(r===`memory`)return ua;if(r===`registers`)return t===0?la:da(t,e)}#d(e){let t=[...this.#o.querySelectorAll(`textarea`)].map(e=>e.value);if(t.length===e.loads.length&&t.every((t,n)=>t===e.loads[n]))return;let n=t=>this.#e.set({...ii,loads:t,access:Math.min(e.access,t.length)}),r=e.loads.map((t,r)=>{let i=this.#u(da(r+1,e.loads),t=>n(e.loads.map((e,n)=>n===r?t:e)));i.set(t);let a=C(`button.quiet`,{type:`button`,onclick:()=>n(e.loads.filter((e,t)=>t!==r))},`Remove load ${r+1}`);return C(`div`,null,i.element,e.loads.length>1&&a)}),i=C(`button.quiet`,{type:`button`,onclick:()=>n([...e.loads,e.loads.at(-1)??e.store])},`Add a load`);T(this.#o,r,C(`div`,null,i))}},pa=class{element;#e;#t;#n;#r=C(`div.stack.tight`);#i=new O;#a=D();constructor(e){this.#e=e,this.#t=C(`button.primary`,{type:`button`,onclick:()=>e.set({solve:7})},`Solve`),this.#n=qe(`Step of the construction`,t=>e.set({solve:t},`drag`)),this.element=C(`section.card.solve`,{"aria-label":`Solve`},C(`header`,null,C(`h2`,null,`Let the algebra find it`),C(`p`,null,`Seven steps from the accesses to a memory, with a proof that none is better.`)),C(`div.row`,null,this.#t),this.#i.element,this.#r)}update(e){this.#t.hidden=e.solve>0,this.element.classList.toggle(`open`,e.solve>0),e.solve===0?(this.#i.clear(),T(this.#r)):this.#a(async t=>{try{let n=await this.#o(e,t.unwanted);if(!t())return;this.#i.clear(),this.#s(n,e)}catch(e){if(!t())return;T(this.#r),this.#i.show(e)}})}async#o(e,t){let{store:n,loads:r,shape:i,element:a,target:o,against:s}=e;return this.#e.engine.invoke({request:`swizzle`,store:n,loads:r,shape:i,element:a,target:o,...s?{also:[s]}:{},trace:r.length===1},t)}#s(e,t){let{trace:n}=e,r=n?Math.min(t.solve,7):7;this.#n.reach(7),this.#n.input.min=`1`,this.#n.set(r),this.#n.say(`${r} of 7`);let i=C(`div.row`,null,C(`button`,{type:`button`,disabled:r>=7,onclick:()=>this.#e.set({solve:r+1})},`Next step`),C(`button.quiet`,{type:`button`,onclick:()=>this.#e.set({solve:1})},`From the first step`),C(`button.quiet`,{type:`button`,onclick:()=>this.#e.set({solve:0})},`Close`));T(this.#r,this.#c(e,t),C(`div.walk`,null,n?[C(`h3`,null,`How it is found`),this.#n.element,i,C(`ol.steps`,null,ha(n,t.shape.length).slice(0,r))]:i))}#c(e,t){let{trace:n,certificate:r,cute:i,triton:a,tma:o,xor:s}=e,c=e=>{let n=cr(e,V(t.shape));this.#e.set(n?{fold:n,memory:``,wave:0}:{memory:lr(e,t.shape),wave:0})},l=n&&{offset:[...n.vector,...n.bank,...n.segment]},u=[[`offset`,`offset = ${W(s,t.shape.length)}`],[`CuTe`,i],[`Triton`,a],[`TMA`,o&&`${o.swizzle_bytes===0?`no`:`${o.swizzle_bytes}-byte`} swizzle${o.as_few?``:`: ${o.wavefronts} wavefronts`}`]];return C(`div.found`,null,C(`p.certificate`,{"data-certificate":r.kind,"data-optimal":r.optimal},C(`strong`,null,`${e.wavefronts} wavefronts, bound ${e.bound}: `),ma(r)),C(`div.scroll`,null,C(`table.data`,null,C(`thead`,null,C(`tr`,null,[`access`,`by`,`instructions`,`wavefronts`,`lower bound`].map(e=>C(`th`,null,e)))),C(`tbody`,null,e.accesses.map(e=>C(`tr`,null,[e.access,e.matrix??`${e.vector_bytes} bytes a lane`,e.instructions,e.wavefronts,e.floor].map(e=>C(`td`,null,e))))))),e.portable&&C(`p.note`,null,`On every machine asked for: ${e.portable.machines.map(({machine:e,wavefronts:t,alone:n})=>`${e} ${t} wavefronts (${n} on a memory of its own)`).join(`, `)}.`),C(`dl.names`,null,u.filter(([,e])=>e).flatMap(([e,t])=>[C(`dt`,null,e),C(`dd`,null,C(`code`,null,t))])),C(`div.row`,null,l&&C(`button.primary`,{type:`button`,onclick:()=>c(l)},`Take the construction's memory`),C(`button`,{type:`button`,onclick:()=>c(e.bases)},`Take the best with vectors and matrix moves`)))}};function ma({kind:e,optimal:t,candidates:n}){return t?e===`exhausted`||e===`modes`?`the fewest of all ${n??``} candidates.`:e===`floors`?`the fewest possible: each access takes as few as it would alone.`:`the fewest possible, by counting dimensions.`:`nothing better was found, and nothing shows that there is none.`}function ha(e,t){let n=(e,t,...n)=>C(`li`,null,C(`h3`,null,e),C(`p.note`,null,t),n.map(e=>typeof e==`string`?C(`code.fact`,null,e):e)),[r,i]=e.phases;return[n(`Vectors`,`Directions that are registers on both sides can be contiguous, and move together.`,`V = ${q(e.vector)}, v = ${e.vector.length}`),n(`Sizes`,`One segment is one row over all banks; the rest of the offset counts segments.`,`b = ${e.bank_bits} bank bits, s = ${e.segment_bits} segment bits`),n(`Phases`,`Only lanes that are served together can collide.`,`store: ${r} phase${r===1?``:`s`}, A = ${q(e.store_phase)}`,`load: ${i} phase${i===1?``:`s`}, B = ${q(e.load_phase)}`),n(`Sorting`,`What both sides need at once is left alone. The others belong to one side.`,`I = ${q(e.shared)}`,`E = ${q(e.only_store)}`,`F = ${q(e.only_load)}`,`segments without conflicts: at most ${e.most_segment_bits} bits`),n(`Pairing`,`One of E plus one of F is a direction that neither side can step along.`,ga(e)),n(`Topping up`,`Directions that no phase reaches may be segments too.`,`C = ${q(e.rest)}`,`segments = ${q(e.segment)}`),n(`Banks`,`Whatever completes the basis: banks cannot make conflicts.`,`banks = ${q(e.bank)}`,`offset = ${W(e.xor,t)}`,`${e.wavefronts} wavefronts`)]}function ga(e){let t=(e,t)=>e.every((e,n)=>e===t[n]),n=e.sums.map(n=>{for(let r of e.only_store)for(let i of e.only_load)if(t(r.map((e,t)=>e^(i[t]??0)),n))return[r,i,n];return[null,null,n]}),r=(e,t)=>C(`tr`,null,C(`th`,{scope:`row`},e),n.map(e=>C(`td`,null,e[t]?K(e[t]):``)));return C(`div.scroll`,null,C(`table.pairing`,null,C(`tbody`,null,r(`E, only the store`,0),r(`F, only the load`,1),r(`H = E ⊕ F`,2))))}var _a=8192,va=24,ya=class{element;#e;#t;#n=C(`progress`,{max:1,value:0,"aria-label":`Memories counted`,hidden:!0});#r=C(`p.note`);#i=C(`div`);#a=new O;#o=0;#s=new AbortController;#c=``;#l;constructor(e){this.#e=e,this.#t=C(`button`,{type:`button`,onclick:()=>void this.#u()},`Try every memory`),this.element=C(`section.card.sweep`,{"aria-label":`Every memory`},C(`header`,null,C(`h2`,null,`Every swizzle these toggles can make`)),this.#r,C(`div.row`,null,this.#t),this.#n,this.#a.element,this.#i)}update(e){this.#l=e;let{store:t,loads:n,shape:r,element:i,target:a}=e,o=JSON.stringify([t,n,r,i,a]);if(o===this.#c)return;this.#c=o,this.stop(),T(this.#i),this.#a.clear();let{rows:s,columns:c}=V(r),l=s*c;this.#t.disabled=l>va,this.#r.textContent=l>va?`2${li(l)} memories are too many to try.`:`Counts all ${(2**l).toLocaleString(`en`)} memories address by address, and asks the algebra about each.`}stop(){this.#o++,this.#s.abort(),this.#n.hidden=!0,this.#t.textContent=`Try every memory`}async#u(){if(!this.#n.hidden||!this.#l)return this.stop();let e=++this.#o,{signal:t}=this.#s=new AbortController,{store:n,loads:r,shape:i,element:a,target:o}=this.#l,{rows:s,columns:l}=V(i),u=2**(s*l);this.#t.textContent=`Stop`,this.#n.hidden=!1,this.#a.clear(),T(this.#i);let d=[],f=performance.now(),[p,m]=[0,0],h=async()=>{for(;p<u;){let s=p,c=Math.min(_a,u-s);p+=c;let l={request:`sweep`,store:n,loads:r,shape:i,element:a,target:o,from:s,count:c};if(d.push(await this.#e.engine.invokeAside(l,t)),e!==this.#o)return;m+=c,this.#n.value=m/u,this.#n.textContent=`${Math.round(100*m/u)} %`}};try{if(await Promise.all(Array.from({length:c()},h)),e!==this.#o)return;let t=(performance.now()-f)/1e3;T(this.#i,xa(ba(d),u,t)),this.#e.announce(`${u} memories counted`)}catch(t){e===this.#o&&this.#a.show(t)}e===this.#o&&this.stop()}};function ba(e){return{accesses:(e[0]?.accesses??[]).map(({access:t},n)=>{let r=new Map;for(let t of e)for(let e of t.accesses[n]?.taken??[]){let t=`${e.wavefronts} ${e.instructions}`,n=r.get(t)?.memories??0;r.set(t,{...e,memories:n+e.memories})}let i=(e,t)=>e.wavefronts-t.wavefronts||e.instructions-t.instructions;return{access:t,taken:[...r.values()].sort(i)}}),disagreements:e.reduce((e,{disagreements:t})=>e+t,0)}}function xa({accesses:e,disagreements:t},n,r){return C(`div.stack.tight`,{"data-disagreements":t},e.map(({access:e,taken:t})=>C(`table.data.histogram`,{"data-access":e},C(`caption`,null,e),C(`thead`,null,C(`tr`,null,C(`th.number`,null,`wavefronts an instruction`),C(`th.number`,null,`memories`),C(`th`,null,``))),C(`tbody`,null,t.map(({instructions:e,wavefronts:t,memories:r})=>C(`tr`,{"data-each":t/e,"data-memories":r},C(`td.number`,null,t/e),C(`td.number`,null,r.toLocaleString(`en`)),C(`td.bar`,null,C(`span`,{style:`--share: ${r/n}`}))))))),C(`p.note`,null,t===0?`Algebra and count agree on all ${n.toLocaleString(`en`)} memories. ${r.toFixed(1)} s.`:`Algebra and count differ ${t} times.`))}function Sa(e,t,n,r){let{shape:i,element:a}=e;return{request:`wavefronts`,registers:t.layout,memory:n,shape:i,element:a,target:r,kind:t.kind}}function Ca(e,t){let n,r=e=>t.set({...e,wave:0}),i=new fa(t),a=new ra(t),o=new ci(e=>r({fold:e.some(e=>e!==0)?e:[],memory:``}),[C(`button`,{type:`button`,onclick:()=>void h(n).then(e=>e&&r(e.memory))},`Optimal`)]),s=new Qi(t),c=new $i(t),l=new ui,u=new ca(t),d=new pa(t),f=new ya(t),p=new O;T(e,C(`div.intro.wide`,null,C(`h1`,null,`Swizzle`),C(`p`,null,`Words of one colour share a bank, and wait. Where must a tensor lie so that nobody waits?`),C(`a.button`,{href:`#/tour`},`Take the tour`)),C(`div.swizzle`,null,a.element,p.element,s.element,C(`div.reasons`,null,o.element,l.element,u.element),c.element,C(`div.below`,null,i.element,d.element,f.element)));let m=D();async function h(e){let{store:n,loads:r,shape:i,element:a,target:o}=e;try{let e=r.length===1,s=await t.engine.invoke({request:`swizzle`,store:n,loads:r,shape:i,element:a,target:o,trace:e}),{trace:c}=s,l=c?{offset:[...c.vector,...c.bank,...c.segment]}:s.bases,u=cr(l,V(i));return{answer:s,memory:u?{fold:u,memory:``}:{fold:[],memory:lr(l,i)}}}catch{return}}async function g(e,n){let r=oi(e),i=async(i,a,o)=>{let s=Sa(e,i,n,a);try{return o&&i.index===r.index?await _(e,s):await t.engine.invoke(s)}catch(e){return e}},a=wa(e);return Promise.all(a.map((t,n)=>Promise.all(ai(e).map(e=>i(e,t,n===0)))))}async function _(e,n){let r=(r,i)=>t.engine.invoke({...n,instruction:r,warp:i,places:!0,pictures:e.close});try{return await r(e.step,e.warp)}catch(i){if(e.step===0&&e.warp===0)throw i;let{instructions:a,warps:o}=await t.engine.invoke(n);return r(Math.min(e.step,a-1),Math.min(e.warp,o-1))}}async function v(e){let t=V(e.shape),n=e=>({bases:sr(H(e,t),t)}),r=n=>e.memory===``&&H(e.fold,t).join()===H(n,t).join(),i=pr(t),[a,o]=[i[0],i[1]],s=[{name:`No swizzle`,memory:n(a.folds),current:r(a.folds)},{name:`XOR m`,memory:n(o.folds),current:r(o.folds)&&!r(a.folds)}],c=h(e),l=c.then(e=>e?.answer);if(!s.some(({current:e})=>e)){let t=i.find(({folds:e})=>r(e))?.name;return{all:[...s,{name:t?`Yours: ${t}`:`Yours`,memory:si(e),current:!0}],best:l}}let u=await c;if(!u)return{all:s,best:l};let d=u.memory.fold.join(),f=i.find(e=>u.memory.memory===``&&e.folds.join()===d)?.name,p=si({...e,...u.memory});return{all:[...s,{name:f?`Optimal: ${f}`:`Optimal`,memory:p,current:!1}],best:l}}async function y(e,n){let r=t.engine.invoke({request:`machines`}),{all:i,best:a}=await v(e),[o,{machines:d}]=await Promise.all([Promise.all(i.map(({memory:t})=>g(e,t))),r]);if(!n())return;let f=wa(e),p=ai(e),m=Math.max(0,i.findIndex(({current:e})=>e));ee(o[m],e);let h=oi(e).index,_=i.map(({name:e,current:t},n)=>{let r=o[n]?.[0]?.[h];if(Yi(r))return{name:e,current:t,verdicts:f.map((e,t)=>({target:e,beside:f.length>1,accesses:p.map((e,r)=>({...e,answer:o[n]?.[t]?.[r]}))})),answer:r}}),y=_[m];if(!y){s.clear(),c.clear(),l.clear();return}let b=d.find(({name:t})=>t===e.target)?.banks??32,x={...e,step:y.answer.instruction,warp:y.answer.warp};s.show(_.filter(e=>e!==void 0),x,b),c.show(y.answer,x,b),l.show(y.answer,x,void 0),u.segments(y.answer.algebra?.segment.length);let te=await a;n()&&l.show(y.answer,x,te)}function ee(e,t){let n=e.flatMap(e=>e.map((e,t)=>({answer:e,index:t}))).find(({answer:e})=>!Yi(e)),[r,a]=[e=>n&&i.source(t,n.index,e),e=>n&&i.label(t,n.index,e)];n?p.show(n.answer,r,a):p.clear()}return{update(e){n=e,i.update(e),a.update(e),o.update(e),s.update(e),c.update(e),u.update(e),d.update(e),f.update(e),m(async t=>{try{await y(e,t)}catch(e){t()&&p.show(e)}a.draw()})},unmount(){s.stop(),f.stop()}}}function wa({target:e,against:t}){return t?[e,t]:[e]}var Ta={id:`swizzle`,title:`Swizzle`,fields:ri,mount:Ca},Ea=`# 工作台导览

\`weft serve\` 打开一个网页，*Tour* 一页用八步讲完一个 swizzle 的来历，图都是现场算出来的，最后一步要你自己动手。点一下步数旁边的“中文”，网页上就是这里的文字。图见[从零到最优 swizzle](swizzles.md)。

## 一块数据，两种读法

一个 warp 有 32 个 lane，要借共享内存把一块 16 × 32 的浮点数转置。数据按行到来：16 条指令，每条里 lane t 写某一行的第 t 列。数据按列离开：16 个 lane 取第 2r 列，另外 16 个取第 2r + 1 列。

两种顺序都改不了，全局内存要求如此。我们能决定的只有一件事：每个元素放在共享内存的哪里。

图中一格是一个元素，颜色表示持有它的 lane：色相 = lane ÷ 2，奇数的更深；指向一格即可读出它的寄存器。画框的是 lane 9 持有的元素：第一幅图里是一列，第二幅图里是每隔一列的同一行。

## 堆积

共享内存有 32 个 bank，每个宽 4 字节，轮流分配：第 w 个字在 bank w mod 32。一个 wavefront 里每个 bank 至多服务一个字。几个 lane 要同一 bank 的不同字，就得排队。

按行摆放时，一行正好绕所有 bank 一圈，store 很完美：32 列，32 个 bank。可是一列全落在一个 bank 里，深 16 个字。load 排成两队，每队 16 个，另外 30 个 bank 闲着。从这里开始，颜色表示 bank。

## 不花钱的自由

一行里的字互相换位置。store 一次写整行，32 个字换个次序，仍是 32 个字，在 32 个 bank 里。所以每一行都可以随意排列，store 毫无察觉。

只需让各行互不相同。若第 m 行把第 n 列移到 n ⊕ m（按位异或），每一行都是一个排列（做两次就还原），而且没有两行会把同一列放在同一处。于是一列会碰到 16 个 bank。

异或只要一条指令，不用填充，也没有进位。每个行号位总是翻转同一个列号位。

## 差一点

然而 load 仍要两个 wavefront。它读的不是一列，而是一对：2r 和 2r + 1。前者在 bank 2r ⊕ m，后者在 2r ⊕ 1 ⊕ m；m 取遍 16 行，两者是同样的 16 个 bank。

一半的 bank 被要了两次，另一半没人要。从 wavefront 的图上看得出来：左边满满两行，右边空着。

问题出在一个位上。n₀ 区分 warp 的两半，而这两半同时在读。把 m₀ 折进 n₀，往下走一行就和换到另一半分不清了。

## 别碰正忙的位

那就把行号折进 load 不同时使用的 4 个列号位：n₁ 到 n₄。这就是 n ⊕ 2m。

现在成对的列一起移动。偶数列填满 16 个偶数 bank，奇数列填满 16 个奇数 bank，谁也不用等。

由此得出三条规则：不出这一行；各行要不同；不碰同一阶段的 lane 正在用的位。

## 同一件事，写成向量

这里一切都是 2 的幂，所以一个元素就是一个 9 位的向量，m₀ 到 m₃ 和 n₀ 到 n₄，加法就是异或。store 和 load 都是矩阵：寄存器和 lane 的每一位翻转元素的哪一位？内存也是一个矩阵，它的列是偏移的各位。5 个偏移位选 bank，4 个选段，一段是 128 字节的一条。

两个元素相差若干段列之和，就在同一个 bank。两个元素相差若干 lane 列之和，就会被同时访问。冲突就是同时属于两者的向量。

要多少个 wavefront？2 的幂，指数是两个空间之交的维数。不看任何地址，而按地址数出来的总是相同。

## 做法

现在搜索变成构造。写下 store 的一个阶段沿哪些方向走，load 的一个阶段沿哪些方向走。两者共有的不能碰；只属于一方的，对另一方无害。

取 store 的一个方向，加上 load 的一个方向。load 走不到这个和，因为有一半是 store 的；store 也走不到。4 个这样的和就是 4 个没有冲突的段方向，而维数说明不可能有 5 个。

没有一步看过这块数据本身。所以同样的做法也适用于矩阵单元的片段对 16 字节的字节向量，那里谁也看不出规律。

## 轮到你了

这个 load 没有现成答案。它的 lane 沿 m₀、m₁、m₂ 以及 n₀ 和 n₂ 走；m₃ 在寄存器里。

前面两个 swizzle 都不行。想一想 load 空出了哪些列号位，把它的 lane 所沿的各行折进去，一行占一位。第四行怎么折都可以。
`.split(/^## /m).slice(1).map(e=>{let[t=``,...n]=e.trim().split(/\n{2,}/);return{title:t,words:n}}),Da=ti[0],Z=Da.shape,Oa=Da.element,ka=Da.store,Q=Da.loads[0],Aa=`[register: (8,0) (0,2) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (0,1) (0,4)] -> [dim0: 16, dim1: 32]`;function ja(...e){return{bases:sr(e,V(Z))}}var Ma=ja(),Na=ja(1,2,4,8),Pa=ja(2,4,8,16),$=[{title:`One tile, two readings`,words:[`A warp of 32 lanes carries a tile of 16 × 32 floats through shared memory, to transpose it. It arrives by rows: in each of 16 instructions lane t writes column t of one row. It leaves by columns: sixteen lanes fetch column 2r, the other sixteen column 2r + 1.`,`Neither order can be changed. Global memory asks for both. The only thing that is ours to choose is where in shared memory each element lies.`,`In the pictures a cell is an element, and its colour tells the lane that holds it: hue = lane ÷ 2, darker = odd. Point at one to read its register. What lane 9 holds is outlined: in the first picture a column, in the second one row of every other column.`],figures:[{show:`layout`,layout:ka,picture:`grid`,ringed:`lane 9`,caption:`The store: lanes run along the rows.`},{show:`layout`,layout:Q,picture:`grid`,ringed:`lane 9`,caption:`The load: lanes run down the columns, two at a time.`}]},{title:`The pile-up`,words:[`Shared memory has 32 banks, each four bytes wide, dealt out in turn: word w is in bank w mod 32. In one wavefront a bank serves one word. Lanes that want different words of one bank wait for each other.`,`Lay the tile down row by row and a row is exactly one turn around the banks. The store is perfect: 32 columns, 32 banks. But a column is then a single bank, sixteen words deep, and the load stands in two queues of sixteen while thirty banks sleep. From here on a colour is a bank.`],figures:[{show:`access`,layout:Q,memory:Ma,kind:`load`,caption:`One load instruction, row-major: 16 wavefronts.`}]},{title:`A freedom that costs nothing`,words:[`Shuffle the words of one row among themselves. The store writes that row at once, and 32 words in another order are still 32 words in 32 banks. So each row may be permuted as we please, and the store never notices.`,`The rows only have to disagree. If row m moves column n to column n ⊕ m, with exclusive-or, each row is permuted (do it twice and it is undone), and two rows never agree on a column. One column now meets sixteen banks.`,`Exclusive-or asks for one instruction, no padding, and no carry. Each row bit flips one column bit, always the same one.`],figures:[{show:`access`,layout:ka,memory:Na,kind:`store`,caption:`The store under n ⊕ m: a permuted row, one wavefront.`}]},{title:`Almost`,words:[`And yet the load takes two wavefronts. It does not read one column but a pair, 2r and 2r + 1. The first lies in the banks 2r ⊕ m, the second in 2r ⊕ 1 ⊕ m, and as m runs through all sixteen rows these are the same sixteen banks.`,`Half of the banks are asked twice, half not at all. The wavefronts show it: two full rows on the left, nothing on the right.`,`The culprit is one bit. n₀ tells the two halves of the warp apart, and they read at the same time. Folding m₀ into n₀ lets a step down the rows look just like a step to the other half.`],figures:[{show:`access`,layout:Q,memory:Na,kind:`load`,caption:`The load under n ⊕ m: 16 banks, twice.`}]},{title:`Leave the busy bit alone`,words:[`So fold the row into the four column bits that the load does not use at once: n₁ to n₄. That is n ⊕ 2m.`,`Pairs of columns now move together. The even column of a pair fills the sixteen even banks, the odd one the sixteen odd banks, and nobody waits.`,`Three rules came out of this: stay inside the row, let the rows disagree, and keep off the bits that lanes of one phase use.`],figures:[{show:`access`,layout:Q,memory:Pa,kind:`load`,caption:`The load under n ⊕ 2m: 32 banks, one word each.`}]},{title:`The same, as vectors`,words:[`Everything here is counted in powers of two, so an element is a vector of nine bits, m₀ to m₃ and n₀ to n₄, and adding is exclusive-or. The store and the load are matrices: which element bit does each bit of the register and of the lane flip? The memory is one too, of the bits of the offset. Five offset bits choose the bank, four the segment, a stripe of 128 bytes.`,`Two elements share a bank when they differ by a sum of segment columns. Two elements are asked for at the same time when they differ by a sum of lane columns. A conflict is a vector that is both.`,`How many wavefronts? Two to the dimension of what the two spaces share. No address is looked at, and the count by addresses always agrees.`],figures:[{show:`layout`,layout:ka,picture:`matrix`,caption:`The store: a register is a row, a lane a column.`},{show:`layout`,layout:Q,picture:`matrix`,caption:`The load: lanes take m and n₀, registers n₁ to n₄.`},{show:`layout`,layout:Pa,picture:`matrix`,caption:`The memory n ⊕ 2m: segment bit j flips mⱼ and nⱼ₊₁.`},{show:`law`,memories:[{name:`row-major`,memory:Ma},{name:`n ⊕ m`,memory:Na},{name:`n ⊕ 2m`,memory:Pa}]}]},{title:`A recipe`,words:[`Now the search is a construction. Write down what one phase of the store steps along, and what one phase of the load steps along. What both have is untouchable. What only one has is harmless to the other.`,`Add one direction of the store's to one of the load's. The load cannot step along the sum, because half of it is the store's. The store cannot either. Four such sums are four segment directions without a conflict, and a count of dimensions says that there could not be five.`,`No step looked at the tile. That is why the same recipe works for a fragment of a matrix unit against 16-byte vectors of bytes, where the eye finds nothing.`],figures:[{show:`construction`},{show:`access`,layout:Q,memory:Pa,kind:`load`,caption:`The load in the memory that comes out: 32 banks, one word each.`}]},{title:`Your turn`,words:[`Here is a load that nobody prepared an answer for. Its lanes run along m₀, m₁, m₂ and along n₀ and n₂; m₃ is a register.`,`The two swizzles from before both fail. Ask which column bits the load leaves free, and fold the rows that its lanes run along into those, each into one of its own. The fourth row bit is free.`],figures:[{show:`exercise`}]}],Fa=420,Ia=352,La=class{element;#e=C(`h2`);#t=C(`p.waves`);#n=C(`button`,{type:`button`,onclick:()=>this.#c()});#r=C(`p.legends`);#i=new Li(`The tile`,e=>this.#i.point(e),()=>void 0,Ia);#a=0;#o=gi;#s;constructor(...e){T(this.#i.head,this.#e,this.#t),this.element=C(`section.card.scene`,null,e,this.#i.element,C(`div.row`,null,this.#n),this.#r)}show(e,t,n,r,i=gi){this.#o=i,this.stop();let a=i(e);this.#a=X(t),this.#e.textContent=a;let o=this.#a===t.phases.length;this.#t.className=`waves ${o?`good`:`bad`}`;let[s,c=``]=i(this.#a===1?`{} wavefront`:`{} wavefronts`,this.#a).split(/(?<=\d)(?= )/);T(this.#t,s,C(`small`,null,c)),this.#i.show({name:a,answer:t,shape:n,banks:r,most:this.#a,say:i}),T(this.#r,xi(t,r,this.#i.isLabelled,i))}stop(){clearInterval(this.#s),this.#s=void 0,this.#n.textContent=this.#o(`Play`),this.#i.wave(0)}#c(){if(this.#s!==void 0)return this.stop();this.#n.textContent=this.#o(`Stop`);let e=0,t=()=>e<this.#a?this.#i.wave(++e):this.stop();this.#i.wave(0),t(),this.#s=setInterval(t,Fa)}},Ra={en:{name:`English`,tag:`en`,say:gi,words:$},zh:{name:`中文`,tag:`zh-Hans`,say:_i,words:Ea}};function za(e,t){let n=C(`div.tour`);T(e,n);let r=``,i,a=[],o=new La,s=D();return{update({step:e,fold:c,language:l}){let u=`${e} ${l}`;if(u!==r){r=u,o.stop();let{figures:c}=$[e-1],{tag:d,say:f,words:p}=Ra[l],{title:m,words:h}=p[e-1];a=[];let g=(e,t)=>(a.push([e,t]),e),_={...t,say:f,leads:g};n.lang=d;let v=C(`h1`,{tabindex:-1},m),y=c.some(({show:e})=>e===`exercise`)?qa(_):void 0;i=y?.update,T(n,C(`article`,null,C(`div.where`,null,C(`p.label`,null,f(`Step {} of {}`,e,$.length)),Va(l,_)),v,h.map(e=>C(`p`,null,e)),y?.toggles,Ha(e,p.map(({title:e})=>e),_)),C(`div.beside`,null,c.map(e=>e.show===`access`?Ba(e,o,_,s):e.show===`exercise`?y?.scene:Ua(e,_)))),document.activeElement===document.body&&v.focus({preventScroll:!0}),scrollTo({top:0})}for(let[e,n]of a)e.href=t.link(n);i?.(c)},unmount:()=>o.stop()}}function Ba({layout:e,memory:t,kind:n,caption:r},i,a,o){let s=new O;return o(async o=>{try{let[s,c]=await Promise.all([Ga(a,e,t,n),Ka(a)]);o()&&i.show(r,s,Z,c,a.say)}catch(e){o()&&s.show(e)}}),C(`div.stack`,null,s.element,i.element)}function Va(e,{leads:t}){let n=e===`en`?`zh`:`en`,{name:r,tag:i}=Ra[n];return t(C(`a.language`,{lang:i,hreflang:i},r),{language:n})}function Ha(e,t,{leads:n,say:r}){let i=(e,t,i)=>n(C(`a.${i}`,null,r(t)),{step:e});return C(`nav.turn`,{"aria-label":r(`Steps of the tour`)},e>1?i(e-1,`Back`,`button`):C(`span`,null),C(`ol`,null,t.map((t,r)=>C(`li`,null,n(C(`a`,{"aria-label":t,title:t,...r+1===e?{"aria-current":`step`}:{}}),{step:r+1})))),e<$.length?i(e+1,`Next`,`button.primary`):C(`a.button.primary`,{href:`#/swizzle`},r(`Workbench`)))}function Ua(e,t){let{say:n}=t,r=new O,i=C(`section.card`,null,r.element);return(async()=>{switch(e.show){case`layout`:{let{layout:r,picture:a,ringed:o,caption:s}=e,c=new A({name:n(s),bare:!0});i.classList.toggle(`matrix`,a===`matrix`),i.append(C(`header`,null,C(`h2`,null,n(s))),c.element);let l={request:`layout`,attribute:r,shape:Z,format:`svg`,picture:a},u=(await t.engine.invoke(l)).picture??``;c.show(a===`matrix`?ur(u,Z.length):bi(W(u,Z.length),`lane`,await Ka(t)));for(let[e]of c.cells())e.classList.toggle(`ringed`,o!==void 0&&RegExp(`\\b${o}\\b`).test(k(e)));return}case`law`:{let r=C(`table.data.laws`);i.append(C(`header`,null,C(`h2`,null,n(`Three memories, one law`))),C(`div.scroll`,null,r));let a=await Promise.all(e.memories.map(({memory:e})=>Ga(t,Q,e,`load`)));T(r,C(`thead`,null,C(`tr`,null,[`memory`,`segment directions`,`shared with the load's lanes`,`by algebra`,`counted`].map(e=>n(e)).map(e=>C(`th`,null,e)))),C(`tbody`,null,a.map((t,r)=>Wa(e.memories[r].name,t,n))));return}case`construction`:{let e=C(`table.pairing`),r=C(`p.note`);i.append(C(`header`,null,C(`h2`,null,n(`Sums of one and one`))),C(`div.scroll`,null,e),r);let{trace:a,wavefronts:o,bound:s}=await t.engine.invoke({request:`swizzle`,store:ka,loads:[Q],shape:Z,element:Oa,trace:!0});if(!a)return;let c=(e,t)=>C(`tr`,null,C(`th`,{scope:`row`},n(e)),t.map(e=>C(`td`,null,e)));T(e,C(`tbody`,null,c(`both, untouchable`,a.shared.map(K)),c(`only the store`,a.only_store.map(K)),c(`only the load`,a.only_load.map(K)),c(`the sums: segments`,a.sums.map(K)))),r.textContent=n(`offset = {}. Store and load together take {} wavefronts, and no memory takes fewer than {}.`,W(a.xor,Z.length),o,s)}}})().catch(e=>r.show(e)),i}function Wa(e,{algebra:t,phases:n},r){let i=n.reduce((e,{wavefronts:t})=>e+t,0);return t?C(`tr`,null,[e===`row-major`?r(e):e,C(`code`,null,q(t.segment)),C(`code`,null,t.meet.length===0?r(`only 0`):q(t.meet)),`2${li(t.dimension)} = ${t.wavefronts}`,i].map(e=>C(`td`,null,e))):C(`tr`)}function Ga({engine:e},t,n,r){return e.invoke({request:`wavefronts`,registers:t,memory:n,shape:Z,element:Oa,kind:r,places:!0})}async function Ka({engine:e}){let{machines:t}=await e.invoke({request:`machines`,target:`sm_90`});return t[0]?.banks??32}function qa(e){let{say:t}=e,n=new ci(t=>e.set({fold:t.some(e=>e!==0)?t:[]})),r=C(`p.verdict-line`,{role:`status`}),i=new O,a=new La(i.element,r),o=D();return{toggles:n.element,scene:a.element,update(s){n.update({shape:Z,fold:s,memory:``}),o(async n=>{try{let o=fr(``,s,Z),[c,l,u]=await Promise.all([Ga(e,Aa,o,`load`),Ga(e,ka,o,`store`),Ka(e)]);if(!n())return;i.clear(),a.show(`One load instruction of your memory.`,c,Z,u,t);let d=c.wavefronts/c.instructions,f=c.wavefronts===c.ideal&&l.wavefronts===l.ideal;r.dataset.solved=String(f);let p=q(c.algebra?.meet??[]);T(r,C(`strong`,null,f?t(`Solved. `):t(`{} wavefronts an instruction. `,d)),f?t(`One wavefront for every store and every load, and the algebra proves it for all of them.`):t(`The load's lanes and the segments share {}: this is the direction to get rid of.`,p))}catch(e){n()&&i.show(e)}})}}}var Ja=[Ta,Kr,jt,ir,{id:`tour`,title:`Tour`,fields:{step:g(1,1,$.length),fold:ee(),language:h(`en`,`zh`)},mount:za}];ge();var Ya=document.getElementById(`workbench`);Ya&&d(new URL(`.`,location.href)).then(e=>ve(Ya,e,Ja),e=>{let t=new O;t.show(e),Ya.replaceChildren(t.element)});