// sources
+incdir+inc
+define+NAME=1+OTHER
-y lib
+libext+.v+.sv
-v lib/cell.v
top.v "top.v"
-f nested.f
-F nested.f
${DIR}/top.v control.vlt
/* over
 two lines */ # to the end
top\.v
